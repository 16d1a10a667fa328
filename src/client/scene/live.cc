// What transients make of a scene: the reply that is being written, calls that run, and what the
// turn does now.
#include <utility>

#include "client/scene/scene.h"

namespace stet::client {
namespace {

using What = SceneChange::What;

/// Only whole lines of it, where there are any.
void KeepEnd(std::string& output) {
  if (output.size() <= CallItem::kMaxOutput) return;
  const std::size_t most = output.size() - CallItem::kMaxOutput;
  const std::size_t line = output.find('\n', most);
  output.erase(0, line == std::string::npos ? most : line + 1);
}

}  // namespace

SceneChanges Scene::Take(const protocol::Transient& transient) {
  std::visit([&](const auto& one) { On(transient.ts, one); }, transient.transient);
  return Finish();
}

void Scene::Do(Activity activity) {
  if (turn_.activity == activity) return;
  turn_.activity = std::move(activity);
  Say(What::kTurn);
}

void Scene::On(std::int64_t, const protocol::MessageStart& start) {
  if (writing_.size() >= kMaxWriting) writing_.erase(writing_.begin());
  // Told anew from its beginning: what was heard of it before does not count.
  if (const auto again = writing_.extract(start.event_id)) DropAll(again.mapped());
  writing_.try_emplace(start.event_id);
  Do({.kind = Activity::Kind::kAnswering});
}

/// What is heard from its middle on is not shown: the whole comes with the message.
void Scene::Grow(std::int64_t ts, const std::string& event_id, std::int64_t block,
                 const ReplyItem& more) {
  turn_.streamed_bytes += more.text.size();
  const auto writing = writing_.find(event_id);
  if (writing == writing_.end() || more.text.empty()) return;
  const auto [place, fresh] = writing->second.replies.try_emplace(block, 0);
  if (fresh) {
    place->second = Add(ts, event_id, more);
    return;
  }
  Change<ReplyItem>(place->second, [&](ReplyItem& reply) {
    Say(What::kGrown, place->second, reply.text.size());
    reply.text += more.text;
  });
}

void Scene::On(std::int64_t ts, const protocol::TextDelta& delta) {
  Do({.kind = Activity::Kind::kAnswering});
  Grow(ts, delta.event_id, delta.block_index,
       {.kind = ReplyItem::Kind::kText, .text = delta.delta});
}

void Scene::On(std::int64_t ts, const protocol::ThinkingDelta& delta) {
  Do({.kind = Activity::Kind::kThinking});
  Grow(ts, delta.event_id, delta.block_index,
       {.kind = ReplyItem::Kind::kThinking, .text = delta.delta});
}

/// A long call is known while it is still being written.
void Scene::On(std::int64_t ts, const protocol::ToolCallDelta& delta) {
  turn_.streamed_bytes += delta.delta.size();
  if (!delta.tool_name) return;
  Do({.kind = Activity::Kind::kWritingCall, .who = *delta.tool_name});
  const auto writing = writing_.find(delta.event_id);
  if (writing == writing_.end() || CallNumber(delta.tool_call_id) != 0) return;
  CallItem call;
  call.tool_call_id = delta.tool_call_id;
  call.tool = *delta.tool_name;
  const std::uint64_t number = Add(ts, delta.event_id, std::move(call));
  calls_[delta.tool_call_id] = number;
  writing->second.calls[delta.tool_call_id] = number;
}

/// Whether one of the items is this call, ended or not.
bool Scene::WasCalled(std::string_view tool_call_id) const {
  return std::ranges::any_of(items_, [&](const SceneItem& item) {
    const auto* call = std::get_if<CallItem>(&item.what);
    return call != nullptr && call->tool_call_id == tool_call_id;
  });
}

void Scene::On(std::int64_t ts, const protocol::ToolExecutionStart& start) {
  const std::int64_t began_at = start.began_at.value_or(ts);
  Do({.kind = Activity::Kind::kTool,
      .who = start.tool_name,
      .detail = start.args.text,
      .since = began_at});
  std::uint64_t number = CallNumber(start.tool_call_id);
  if (number == 0) {
    if (WasCalled(start.tool_call_id)) return;  // Told late: its result stood in the log already.
    CallItem call;
    call.tool_call_id = start.tool_call_id;
    number = Add(ts, start.event_id, std::move(call));
    calls_[start.tool_call_id] = number;
  }
  Change<CallItem>(number, [&](CallItem& call) {
    call.tool = start.tool_name;
    if (start.args.text != "{}") call.args = start.args;  // Long ones are not told again.
    if (began_at != 0) call.began_at = began_at;
    call.state = CallItem::State::kRunning;
  });
  Say(What::kChanged, number);
}

void Scene::On(std::int64_t, const protocol::ToolExecutionUpdate& update) {
  const std::uint64_t number = CallNumber(update.tool_call_id);
  if (number == 0) return;
  Change<CallItem>(number, [&](CallItem& call) {
    if (update.terminal_id) call.terminal = *update.terminal_id;
    call.output += update.partial;
    KeepEnd(call.output);
  });
  Say(What::kChanged, number);
}

void Scene::On(std::int64_t, const protocol::ToolExecutionEnd& end) {
  Do({.kind = Activity::Kind::kModel});
  const std::uint64_t number = CallNumber(end.tool_call_id);
  bool answered = false;
  Change<CallItem>(number, [&](CallItem& call) {
    call.duration_ms = end.duration_ms;
    answered = call.state == CallItem::State::kAnswered;
  });
  if (answered) EndCall(number);
}

void Scene::On(std::int64_t ts, const protocol::MessageCancelled& cancelled) {
  const auto gone = writing_.extract(cancelled.event_id);
  if (gone) DropAll(gone.mapped());
  if (cancelled.reason == "tried again") Add(ts, "", NoteItem{.kind = NoteItem::Kind::kAgain});
}

void Scene::On(std::int64_t, const protocol::TurnStart&) {
  turn_.streamed_bytes = 0;
  Do({.kind = Activity::Kind::kModel});
}

void Scene::On(std::int64_t, const protocol::TurnEnd&) {
  turn_.streamed_bytes = 0;
  turn_.activity.until.reset();
  Say(What::kTurn);
}

void Scene::On(std::int64_t ts, const protocol::Wait& wait) {
  Do({.kind = Activity::Kind::kWait, .who = wait.who, .detail = wait.what, .until = wait.until});
  Add(ts, "",
      NoteItem{
          .kind = NoteItem::Kind::kWait, .by = wait.who, .text = wait.what, .until = wait.until});
}

void Scene::On(std::int64_t ts, const protocol::Notice& notice) {
  Add(ts, "", NoteItem{.kind = NoteItem::Kind::kNotice, .by = notice.by, .text = notice.text});
}

}  // namespace stet::client
