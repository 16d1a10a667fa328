#include "client/scene/scene.h"

#include <algorithm>

#include <fmt/format.h>

namespace stet::client {
namespace {

using What = SceneChange::What;

constexpr std::size_t kItemBytes = 128;  // Of an item without its texts, about.

std::size_t TextBytes(const PromptItem& prompt) {
  std::size_t bytes = 0;
  for (const protocol::Block& block : prompt.blocks)
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) bytes += text->text.size();
  return bytes;
}
std::size_t TextBytes(const ReplyItem& reply) { return reply.text.size(); }
std::size_t TextBytes(const CallItem& call) {
  return call.args.text.size() + call.output.size() + (call.result ? call.result->text.size() : 0);
}
std::size_t TextBytes(const NoteItem& note) { return note.text.size(); }
std::size_t TextBytes(const MarkerItem& marker) { return marker.value.size(); }
std::size_t TextBytes(const TurnItem& turn) { return turn.error.size(); }

std::string HowItEnded(const protocol::Task& task) {
  if (task.phase == protocol::phase::kLost) return "lost";
  std::string status = task.status.value_or("completed");
  if (task.signal) return fmt::format("{}, signal {}", status, *task.signal);
  if (task.exit && *task.exit != 0) return fmt::format("{}, exit code {}", status, *task.exit);
  return status;
}

}  // namespace

std::size_t Scene::SizeOf(const SceneItem& item) {
  return kItemBytes + std::visit([](const auto& one) { return TextBytes(one); }, item.what);
}

std::uint64_t Scene::Add(std::int64_t at, std::string event_id, decltype(SceneItem::what) what) {
  SceneItem& item = items_.emplace_back();
  item.number = ++last_number_;
  item.event_id = std::move(event_id);
  item.at = at;
  item.what = std::move(what);
  bytes_ += SizeOf(item);
  Say(What::kAdded, item.number);
  return item.number;
}

const SceneItem* Scene::Find(std::uint64_t number) const {
  const auto found = std::ranges::lower_bound(items_, number, {}, &SceneItem::number);
  return found != items_.end() && found->number == number ? &*found : nullptr;
}

const CallItem* Scene::FindCall(std::string_view tool_call_id) const {
  return Peek<CallItem>(CallNumber(tool_call_id));
}

std::uint64_t Scene::CallNumber(std::string_view tool_call_id) const {
  const auto found = calls_.find(tool_call_id);
  return found == calls_.end() ? 0 : found->second;
}

void Scene::Say(What what, std::uint64_t item, std::size_t from) {
  changes_.push_back({.what = what, .item = item, .from = from});
}

void Scene::Drop(std::uint64_t number) {
  const auto found = std::ranges::lower_bound(items_, number, {}, &SceneItem::number);
  if (found == items_.end() || found->number != number) return;
  if (const auto* call = std::get_if<CallItem>(&found->what)) calls_.erase(call->tool_call_id);
  bytes_ -= SizeOf(*found);
  items_.erase(found);
  Say(What::kDropped, number);
}

void Scene::DropAll(const Writing& writing) {
  for (const auto& [block, number] : writing.replies) Drop(number);
  for (const auto& [id, number] : writing.calls) Drop(number);
}

/// The newest item stays, however large it is: it is what is being shown.
void Scene::LetGo() {
  while (items_.size() > 1 && (items_.size() > kMaxItems || bytes_ > kMaxBytes)) {
    if (const auto* call = std::get_if<CallItem>(&items_.front().what))
      calls_.erase(call->tool_call_id);
    bytes_ -= SizeOf(items_.front());
    items_.pop_front();
  }
}

SceneChanges Scene::Finish() {
  LetGo();
  return std::exchange(changes_, {});
}

SceneChanges Scene::Take(const protocol::Event& event) {
  NoteTurn(event);
  const protocol::PayloadVariant& payload = event.payload;
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { On(event, one); }) On(event, one);
      },
      payload);
  if (const std::optional<protocol::AskNews> news = protocol::AskNewsIn(event)) {
    std::erase_if(asks_,
                  [&](const protocol::Ask& ask) { return protocol::AskId(ask) == news->id; });
    if (news->asked) asks_.push_back(*news->asked);
    Say(What::kAsks);
  }
  return Finish();
}

void Scene::On(const protocol::Event& event, const protocol::UserMessage& message) {
  PromptItem prompt;
  prompt.blocks = message.message.blocks;
  prompt.client_id = event.stamp.client_id;
  prompt.client_message_id = message.client_message_id;
  prompt.queue_item_id = message.queue_item_id;
  Add(event.stamp.ts, event.id, std::move(prompt));
}

/// The message is the truth. What was streamed of it stays where it is the beginning of what the
/// message says, and is replaced where it is not.
void Scene::On(const protocol::Event& event, const protocol::AssistantMessage& message) {
  Writing writing;
  if (auto found = writing_.extract(event.id)) writing = std::move(found.mapped());
  std::map<ReplyItem::Kind, std::deque<std::uint64_t>> streamed;
  for (const auto& [block, number] : writing.replies)
    if (const auto* reply = Peek<ReplyItem>(number)) streamed[reply->kind].push_back(number);
  const auto keep = [&](ReplyItem::Kind kind, const std::string& text) {
    std::deque<std::uint64_t>& left = streamed[kind];
    if (text.empty()) return;
    if (left.empty())
      return (void)Add(event.stamp.ts, event.id,
                       ReplyItem{.kind = kind, .text = text, .kept = true});
    KeepReply(left.front(), text);
    left.pop_front();
  };
  for (const protocol::Block& block : message.message.blocks) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block))
      keep(ReplyItem::Kind::kText, text->text);
    else if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block))
      keep(ReplyItem::Kind::kThinking, thinking->text);
    else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
      KeepCall(event, writing, *call);
  }
  // What the message does not have was never said.
  for (const auto& [kind, left] : streamed)
    for (const std::uint64_t number : left) Drop(number);
  for (const auto& [id, number] : writing.calls) Drop(number);
  if (message.partial.value_or(false))
    Add(event.stamp.ts, "", NoteItem{.kind = NoteItem::Kind::kCutShort});
  if (const protocol::OptionalUsage& usage = message.message.usage) {
    used_ = usage->input + usage->cache_read.value_or(0) + usage->cache_write.value_or(0) +
            usage->output;
    Say(What::kUsage);
  }
}

void Scene::KeepReply(std::uint64_t number, const std::string& text) {
  Change<ReplyItem>(number, [&](ReplyItem& reply) {
    const std::size_t before = reply.text.size();
    const bool goes_on = text.starts_with(reply.text);
    if (!goes_on)
      Say(What::kReplaced, number);
    else if (text.size() > before)
      Say(What::kGrown, number, before);
    reply.text = text;
    reply.kept = true;
    Say(What::kChanged, number);
  });
}

void Scene::KeepCall(const protocol::Event& event, Writing& writing,
                     const protocol::ToolCallBlock& block) {
  writing.calls.erase(block.tool_call_id);
  const std::uint64_t number = CallNumber(block.tool_call_id);
  if (number == 0) {
    CallItem call;
    call.tool_call_id = block.tool_call_id;
    call.tool = block.tool_name;
    call.args = block.args;
    call.state = CallItem::State::kWaiting;
    const std::uint64_t added = Add(event.stamp.ts, event.id, std::move(call));
    calls_[block.tool_call_id] = added;
    return;
  }
  Change<CallItem>(number, [&](CallItem& call) {
    call.tool = block.tool_name;
    call.args = block.args;
    // A call that only reads may have started while the message was written.
    if (call.state == CallItem::State::kWriting) call.state = CallItem::State::kWaiting;
  });
  Say(What::kChanged, number);
}

void Scene::On(const protocol::Event& event, const protocol::ToolResult& result) {
  std::uint64_t number = CallNumber(result.tool_call_id);
  if (number == 0) {
    // Its call was let go, or is not in what was heard.
    CallItem unknown;
    unknown.tool_call_id = result.tool_call_id;
    unknown.state = CallItem::State::kWaiting;
    number = Add(event.stamp.ts, event.id, std::move(unknown));
    calls_[result.tool_call_id] = number;
  }
  bool ends = false;
  Change<CallItem>(number, [&](CallItem& call) {
    call.is_error = result.is_error;
    call.result = result.content;
    // What was refused never started, and no end of it is told.
    ends = call.state != CallItem::State::kRunning || call.duration_ms.has_value();
    call.state = CallItem::State::kAnswered;
  });
  if (ends) return EndCall(number);
  Say(What::kChanged, number);
}

void Scene::EndCall(std::uint64_t number) {
  const auto* known = Peek<CallItem>(number);
  if (known == nullptr) return;
  calls_.erase(known->tool_call_id);
  Change<CallItem>(number, [](CallItem& call) {
    call.state = CallItem::State::kEnded;
    call.output.clear();
    if (!call.result) call.is_error = true;
  });
  Say(What::kChanged, number);
}

/// Whether all that the item tells the model was shown when it happened: the ends of tasks.
bool Scene::WasShown(const protocol::HarnessItem& item) const {
  if (!item.carries || item.carries->empty()) return false;
  return std::ranges::all_of(*item.carries, [&](const protocol::Carried& carried) {
    const auto task =
        std::ranges::find(tasks_, carried.task_id.value_or(""), &protocol::TaskRow::task_id);
    return task != tasks_.end() && task->ended_at;
  });
}

void Scene::On(const protocol::Event& event, const protocol::HarnessItem& item) {
  if (item.item.visibility == "hidden" || WasShown(item)) return;
  NoteItem note{.kind = NoteItem::Kind::kHarness};
  note.by = item.item.origin;
  note.text = item.item.content;
  Add(event.stamp.ts, event.id, std::move(note));
}

void Scene::On(const protocol::Event& event, const protocol::Compaction& compact) {
  MarkerItem marker{.kind = MarkerItem::Kind::kCompact, .value = compact.summary};
  marker.tokens_before = compact.tokens_before;
  marker.tokens_after = compact.tokens_after;
  Add(event.stamp.ts, event.id, std::move(marker));
}

void Scene::On(const protocol::Event& event, const protocol::Rewind& rewind) {
  Add(event.stamp.ts, event.id,
      MarkerItem{.kind = MarkerItem::Kind::kRewind, .value = rewind.target_event_id.value_or("")});
}

void Scene::On(const protocol::Event& event, const protocol::Branch& branch) {
  Add(event.stamp.ts, event.id,
      MarkerItem{.kind = MarkerItem::Kind::kBranch, .value = branch.leaf_event_id});
}

void Scene::On(const protocol::Event&, const protocol::FileFact& fact) {
  if (fact.op != "write" || !fact.tool_call_id) return;
  const std::uint64_t number = CallNumber(*fact.tool_call_id);
  if (number == 0) return;
  Change<CallItem>(number, [&](CallItem& call) {
    call.files.push_back({.path = fact.path, .before_blob = fact.before_blob});
  });
  Say(What::kChanged, number);
}

void Scene::On(const protocol::Event&, const protocol::QueueUpdate& update) {
  (update.queue == "steer" ? steers_ : follow_ups_) = update.items;
  Say(What::kQueue);
}

void Scene::On(const protocol::Event& event, const protocol::Task& task) {
  auto row = std::ranges::find(tasks_, task.task_id, &protocol::TaskRow::task_id);
  if (row == tasks_.end()) {
    if (tasks_.size() == kMaxTasks) tasks_.pop_front();
    row = tasks_.insert(tasks_.end(), protocol::BegunTask(task, event.stamp.ts));
  }
  protocol::TakeTaskEnd(task, event.stamp.ts, *row);
  Say(What::kTasks);
  if (!task.ends()) return;
  NoteItem note{.kind = NoteItem::Kind::kTaskEnd, .by = task.task_id};
  note.text = HowItEnded(task);
  Add(event.stamp.ts, event.id, std::move(note));
}

void Scene::On(const protocol::Event& event, const protocol::SessionInfo& info) {
  const protocol::InfoChanges& changes = info.changes;
  if (changes.title) settings_.title = *changes.title;
  Set(event, settings_.model, changes.model, MarkerItem::Kind::kModel);
  Set(event, settings_.mode, changes.mode, MarkerItem::Kind::kMode);
  Set(event, settings_.effort, changes.effort, MarkerItem::Kind::kEffort);
  Say(What::kSettings);
}

/// A setting that is heard of for the first time is no change.
void Scene::Set(const protocol::Event& event, std::string& setting,
                const protocol::OptionalText& value, MarkerItem::Kind kind) {
  if (!value || *value == setting) return;
  if (begun_ || !setting.empty())
    Add(event.stamp.ts, event.id, MarkerItem{.kind = kind, .value = *value});
  setting = *value;
}

void Scene::On(const protocol::Event& event, const protocol::ModelCall& call) {
  if (call.phase != protocol::phase::kEnd) return;
  price_ += call.price.value_or(0);
  Say(What::kUsage);
  if (event.stamp.turn_id != turn_.turn_id) return;
  turn_.price += call.price.value_or(0);
  turn_.streamed_bytes = 0;
  for (const protocol::Attempt& attempt :
       call.attempts.value_or(std::vector<protocol::Attempt>())) {
    if (!attempt.usage) continue;
    turn_.tokens_in += attempt.usage->input + attempt.usage->cache_read.value_or(0) +
                       attempt.usage->cache_write.value_or(0);
    turn_.tokens_out += attempt.usage->output;
  }
  Say(What::kTurn);
}

}  // namespace stet::client
