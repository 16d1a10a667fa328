#include "agent/reply_stream.h"

#include <fmt/format.h>

namespace stet::agent {

ReplyStream::ReplyStream(log::Log& log, Calls& calls, std::string event_id)
    : log_(log), calls_(calls), event_id_(std::move(event_id)) {}

void ReplyStream::On(const provider::StreamEvent& event) {
  std::visit([&](const auto& one) { On(one); }, event);
}

void ReplyStream::On(const provider::MessageStart& start) {
  protocol::MessageStart out;
  out.event_id = event_id_;
  out.parent_id = log_.leaf_id();
  out.role = "assistant";
  out.model = start.model;
  log_.Publish(std::move(out));
}

void ReplyStream::On(const provider::BlockStart& start) {
  if (!start.tool_call_id) return;
  call_ids_[start.index] = *start.tool_call_id;
  calls_.Begun(start.index, start.tool_name.value_or(""));
  ShowCall(start.index, start.tool_name, "");
}

void ReplyStream::On(const provider::TextDelta& delta) {
  protocol::TextDelta out;
  out.event_id = event_id_;
  out.block_index = delta.index;
  out.delta = delta.text;
  log_.Publish(std::move(out));
}

void ReplyStream::On(const provider::ThinkingDelta& delta) {
  protocol::ThinkingDelta out;
  out.event_id = event_id_;
  out.block_index = delta.index;
  out.delta = delta.text;
  log_.Publish(std::move(out));
}

void ReplyStream::On(const provider::ToolCallDelta& delta) {
  ShowCall(delta.index, std::nullopt, delta.text);
}

void ReplyStream::On(const provider::BlockEnd& end) {
  if (const auto* call = std::get_if<protocol::ToolCallBlock>(&end.block))
    calls_.Complete(end.index, *call);
  protocol::BlockEnd out;
  out.event_id = event_id_;
  out.block_index = end.index;
  log_.Publish(std::move(out));
}

void ReplyStream::On(const provider::Waiting& waiting) {
  ShowWait(waiting.why, waiting.until, waiting.attempt);
}

void ReplyStream::On(const provider::Stalled& stalled) {
  ShowWait(fmt::format("no byte for {} ms", stalled.idle_ms), stalled.until);
}

void ReplyStream::On(const provider::Switched& change) {
  ShowWait(fmt::format("{}: asking {} instead", change.why, change.to), std::nullopt);
}

void ReplyStream::On(const provider::Restarted&) {
  calls_.Forget();
  call_ids_.clear();
  protocol::MessageCancelled out;
  out.event_id = event_id_;
  out.reason = "tried again";
  log_.Publish(std::move(out));
}

void ReplyStream::ShowCall(std::int64_t index, std::optional<std::string> name, std::string text) {
  protocol::ToolCallDelta out;
  out.event_id = event_id_;
  out.block_index = index;
  out.tool_call_id = call_ids_[index];
  out.tool_name = std::move(name);
  out.delta = std::move(text);
  log_.Publish(std::move(out));
}

void ReplyStream::ShowWait(std::string what, std::optional<std::int64_t> until,
                           std::optional<std::int64_t> attempt) {
  protocol::Wait out;
  out.who = "model";
  out.what = std::move(what);
  out.until = until;
  out.attempt = attempt;
  log_.Publish(std::move(out));
}

}  // namespace stet::agent
