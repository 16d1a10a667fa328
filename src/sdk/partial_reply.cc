#include "sdk/partial_reply.h"

#include <utility>

#include "face/sdk_names.h"
#include "json/writer.h"
#include "sdk/lines.h"

namespace stet::sdk {

std::vector<std::string> PartialReply::Take(const protocol::Transient& transient) {
  std::visit([&](const auto& one) { On(one); }, transient.transient);
  return std::exchange(out_, {});
}

std::vector<std::string> PartialReply::Take(const protocol::Event& event,
                                            const protocol::AssistantMessage& message) {
  if (event.id == event_id_)
    End(face::StopReasonName(message.message.stop_reason.value_or("")), message.message.usage);
  return std::exchange(out_, {});
}

void PartialReply::On(const protocol::MessageStart& start) {
  if (!event_id_.empty()) End("", {});
  event_id_ = start.event_id;
  JsonWriter writer(out_.emplace_back());
  writer.BeginObject().Member("type", "message_start").Key("message").BeginObject();
  writer.Member("id", event_id_).Member("type", "message").Member("role", "assistant");
  writer.Member("model", start.model.value_or("")).Key("content").Text("[]");
  writer.Key("stop_reason").Text("null").Key("stop_sequence").Text("null");
  WriteUsage(writer.Key("usage"), {});
  writer.EndObject().EndObject();
}

void PartialReply::On(const protocol::TextDelta& delta) {
  if (delta.event_id != event_id_) return;
  const std::int64_t shown = Open(delta.block_index, R"({"type":"text","text":""})");
  Delta(shown, "text_delta", "text", delta.delta);
}

void PartialReply::On(const protocol::ThinkingDelta& delta) {
  if (delta.event_id != event_id_) return;
  const std::int64_t shown =
      Open(delta.block_index, R"({"type":"thinking","thinking":"","signature":""})");
  Delta(shown, "thinking_delta", "thinking", delta.delta);
}

void PartialReply::On(const protocol::ToolCallDelta& delta) {
  if (delta.event_id != event_id_) return;
  std::string start;
  JsonWriter writer(start);
  writer.BeginObject().Member("type", "tool_use").Member("id", delta.tool_call_id);
  writer.Member("name", delta.tool_name.value_or("")).Key("input").Text("{}").EndObject();
  const std::int64_t shown = Open(delta.block_index, start);
  if (!delta.delta.empty()) Delta(shown, "input_json_delta", "partial_json", delta.delta);
}

void PartialReply::On(const protocol::BlockEnd& end) {
  if (end.event_id == event_id_) Stop(end.block_index);
}

void PartialReply::On(const protocol::MessageCancelled& cancelled) {
  if (cancelled.event_id == event_id_) End("", {});
}

std::int64_t PartialReply::Open(std::int64_t block, std::string_view start) {
  const auto [place, fresh] = shown_.try_emplace(block, static_cast<std::int64_t>(shown_.size()));
  if (!fresh) return place->second;
  open_.insert(block);
  JsonWriter writer(out_.emplace_back());
  writer.BeginObject().Member("type", "content_block_start").Member("index", place->second);
  writer.Key("content_block").Text(start).EndObject();
  return place->second;
}

void PartialReply::Delta(std::int64_t shown, std::string_view type, std::string_view member,
                         std::string_view text) {
  JsonWriter writer(out_.emplace_back());
  writer.BeginObject().Member("type", "content_block_delta").Member("index", shown);
  writer.Key("delta").BeginObject().Member("type", type).Member(member, text);
  writer.EndObject().EndObject();
}

void PartialReply::Stop(std::int64_t block) {
  if (open_.erase(block) == 0) return;
  JsonWriter writer(out_.emplace_back());
  writer.BeginObject().Member("type", "content_block_stop").Member("index", shown_[block]);
  writer.EndObject();
}

void PartialReply::End(std::string_view stop_reason, const protocol::OptionalUsage& usage) {
  while (!open_.empty()) Stop(*open_.begin());
  JsonWriter writer(out_.emplace_back());
  writer.BeginObject().Member("type", "message_delta").Key("delta").BeginObject();
  writer.Key("stop_reason");
  if (stop_reason.empty())
    writer.Text("null");
  else
    writer.String(stop_reason);
  writer.Key("stop_sequence").Text("null").EndObject();
  WriteUsage(writer.Key("usage"), usage);
  writer.EndObject();
  out_.emplace_back(R"({"type":"message_stop"})");
  event_id_.clear();
  shown_.clear();
}

}  // namespace stet::sdk
