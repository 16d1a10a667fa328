#include "acp/updates.h"

#include <algorithm>

#include <fmt/format.h>

#include "acp/message.h"
#include "base/base64.h"
#include "base/utf8.h"

namespace stet::acp {
namespace {

constexpr std::string_view kUser = "user_message_chunk";
constexpr std::string_view kAgent = "agent_message_chunk";
constexpr std::string_view kThought = "agent_thought_chunk";
/// Of a command that runs, so much of the end of its output is told, and so often.
constexpr std::size_t kMaxProgress = 4096;
constexpr std::int64_t kProgressMs = 500;

JsonWriter& Begin(JsonWriter& writer, std::string_view kind) {
  return writer.BeginObject().Member("sessionUpdate", kind);
}

JsonWriter& BeginCall(JsonWriter& writer, std::string_view kind, const std::string& id) {
  return Begin(writer, kind).Member("toolCallId", id);
}

/// The text blocks of one kind, with blank lines between.
template <class Block>
std::string Joined(const protocol::Blocks& blocks) {
  std::string text;
  for (const protocol::Block& block : blocks) {
    const auto* part = std::get_if<Block>(&block);
    if (part == nullptr || part->text.empty()) continue;
    if (!text.empty()) text += "\n\n";
    text += part->text;
  }
  return text;
}

void WriteDiffs(JsonWriter& writer, const FileDiffs& diffs) {
  writer.BeginArray();
  for (const FileDiff& diff : diffs) WriteDiff(writer, diff);
  writer.EndArray();
}

}  // namespace

Updates::List Updates::Take(const protocol::Event& event) {
  const protocol::PayloadVariant& payload = event.payload;
  if (const auto* user = std::get_if<protocol::UserMessage>(&payload))
    On(event, *user);
  else if (const auto* message = std::get_if<protocol::AssistantMessage>(&payload))
    On(event, *message);
  else if (const auto* result = std::get_if<protocol::ToolResult>(&payload))
    On(*result);
  else if (const auto* fact = std::get_if<protocol::FileFact>(&payload))
    On(*fact);
  else if (const auto* info = std::get_if<protocol::SessionInfo>(&payload))
    On(*info);
  else if (const auto* compact = std::get_if<protocol::Compact>(&payload))
    On(event, *compact);
  return std::exchange(out_, {});
}

Updates::List Updates::Replay(const protocol::Event& event) {
  replaying_ = true;
  List updates = Take(event);
  replaying_ = false;
  return updates;
}

Updates::List Updates::Take(const protocol::Transient& transient) {
  std::visit([&](const auto& one) { Heard(one, transient.ts); }, transient.transient);
  return std::exchange(out_, {});
}

void Updates::Chunk(std::string_view kind, const std::string& id, std::string_view text) {
  if (text.empty()) return;
  JsonWriter writer(out_.emplace_back());
  Begin(writer, kind).Key("content").BeginObject().Member("type", "text").Member("text", text);
  writer.EndObject().Member("messageId", id).EndObject();
}

void Updates::ImageChunk(const std::string& id, const protocol::ImageBlock& image) {
  JsonWriter writer(out_.emplace_back());
  Begin(writer, kUser).Key("content");
  WriteImage(writer, image);
  writer.Member("messageId", id).EndObject();
}

/// As a content block; one that is not there any more is named.
void Updates::WriteImage(JsonWriter& writer, const protocol::ImageBlock& image) const {
  const std::optional<std::string> bytes = sources_.blob(image.blob);
  writer.BeginObject();
  if (bytes) {
    std::string data;
    AppendBase64(data, *bytes);
    writer.Member("type", "image").Member("mimeType", image.media_type).Member("data", data);
  } else {
    writer.Member("type", "text").Member("text", fmt::format("({})", image.media_type));
  }
  writer.EndObject();
}

void Updates::On(const protocol::Event& event, const protocol::UserMessage& message) {
  Chunk(kUser, event.id, Joined<protocol::TextBlock>(message.message.blocks));
  for (const protocol::Block& block : message.message.blocks)
    if (const auto* image = std::get_if<protocol::ImageBlock>(&block)) ImageChunk(event.id, *image);
}

void Updates::On(const protocol::Event& event, const protocol::AssistantMessage& message) {
  const bool heard = event.id == event_id_;
  const protocol::Blocks& blocks = message.message.blocks;
  Rest(heard ? thought_ : Told(), kThought, event.id, Joined<protocol::ThinkingBlock>(blocks));
  Rest(heard ? text_ : Told(), kAgent, event.id, Joined<protocol::TextBlock>(blocks));
  for (const protocol::Block& block : blocks)
    if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) TellCall(*call);
  GiveUpCalls();
  event_id_.clear();
  if (const protocol::OptionalUsage& usage = message.message.usage)
    used_ = usage->input + usage->cache_read.value_or(0) + usage->cache_write.value_or(0) +
            usage->output;
}

/// What of the whole was not told. When something between was missed, all of it again: nothing is
/// lost.
void Updates::Rest(const Told& told, std::string_view kind, const std::string& id,
                   const std::string& whole) {
  if (whole.starts_with(told.text))
    Chunk(kind, id, std::string_view(whole).substr(told.text.size()));
  else
    Chunk(kind, id, "\n\n" + whole);
}

void Updates::TellCall(const protocol::ToolCallBlock& block) {
  const bool known = calls_.contains(block.tool_call_id);
  Call& call = calls_[block.tool_call_id];
  call.tool = block.tool_name;
  call.args = block.args;
  call.in_message = true;
  call.locations = LocationsOf(call.tool, call.args, sources_.cwd);
  call.diffs = DiffsOf(call.tool, call.args, sources_.cwd);
  if (call.tool == "Write" && !call.diffs.empty() && !replaying_)
    call.diffs[0].old_text = sources_.file_text(call.diffs[0].path);
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, known ? "tool_call_update" : "tool_call", block.tool_call_id);
  writer.Member("title", TitleOf(call.tool, call.args)).Member("name", call.tool);
  writer.Member("kind", KindOf(call.tool)).Member("status", "pending");
  if (!call.diffs.empty()) WriteDiffs(writer.Key("content"), call.diffs);
  if (!call.locations.empty()) WriteLocations(writer.Key("locations"), call.locations);
  writer.Member("rawInput", call.args).EndObject();
}

/// Calls that were begun and are in no message: they will never run.
void Updates::GiveUpCalls() {
  for (auto call = calls_.begin(); call != calls_.end();) {
    if (call->second.in_message) {
      ++call;
      continue;
    }
    JsonWriter writer(out_.emplace_back());
    BeginCall(writer, "tool_call_update", call->first).Member("status", "failed").EndObject();
    call = calls_.erase(call);
  }
}

void Updates::On(const protocol::FileFact& fact) {
  if (fact.op != "write" || !fact.tool_call_id) return;
  const auto found = calls_.find(*fact.tool_call_id);
  if (found == calls_.end()) return;
  Call& call = found->second;
  call.locations = {Location{.path = fact.path, .line = {}}};
  for (FileDiff& diff : call.diffs) diff.path = fact.path;
  if (call.tool != "Write" || call.diffs.empty()) return;
  std::optional<std::string> before;
  if (fact.before_blob) before = sources_.blob(*fact.before_blob);
  call.diffs[0].old_text = before && !IsValidUtf8(*before) ? std::nullopt : before;
}

void Updates::On(const protocol::ToolResult& result) {
  const auto found = calls_.find(result.tool_call_id);
  const Call call = found == calls_.end() ? Call() : found->second;
  if (found != calls_.end()) calls_.erase(found);
  {
    JsonWriter writer(out_.emplace_back());
    BeginCall(writer, "tool_call_update", result.tool_call_id);
    writer.Member("status", result.is_error ? "failed" : "completed");
    WriteOutcome(writer.Key("content"), call, result);
    if (!call.locations.empty()) WriteLocations(writer.Key("locations"), call.locations);
    writer.EndObject();
  }
  if (call.tool != "TodoWrite" || result.is_error) return;
  if (std::string plan = PlanUpdate(call.args); !plan.empty()) out_.push_back(std::move(plan));
}

void Updates::WriteOutcome(JsonWriter& writer, const Call& call,
                           const protocol::ToolResult& result) {
  if (!result.is_error && !call.diffs.empty()) return WriteDiffs(writer, call.diffs);
  const protocol::Blocks blocks =
      Decode<protocol::Blocks>(result.content.text).value_or(protocol::Blocks());
  writer.BeginArray();
  if (!call.terminal.empty()) WriteTerminal(writer, call.terminal);
  // A terminal shows the output itself.
  const std::string text = Joined<protocol::TextBlock>(blocks);
  if (!text.empty() && (call.terminal.empty() || result.is_error)) WriteTextContent(writer, text);
  for (const protocol::Block& block : blocks) {
    const auto* image = std::get_if<protocol::ImageBlock>(&block);
    if (image == nullptr) continue;
    WriteImage(writer.BeginObject().Member("type", "content").Key("content"), *image);
    writer.EndObject();
  }
  writer.EndArray();
}

void Updates::On(const protocol::SessionInfo& info) {
  if (!info.changes.title) return;
  JsonWriter writer(out_.emplace_back());
  Begin(writer, "session_info_update").Member("title", *info.changes.title).EndObject();
}

void Updates::On(const protocol::Event& event, const protocol::Compact& compact) {
  if (!sources_.compactions) return;
  JsonWriter writer(out_.emplace_back());
  Begin(writer, "compaction_update").Member("compactionId", event.id);
  writer.Member("status", "completed").Key("summary").BeginArray().BeginObject();
  writer.Member("type", "text").Member("text", compact.summary);
  writer.EndObject().EndArray().EndObject();
}

void Updates::Heard(const protocol::MessageStart& start, std::int64_t) {
  event_id_ = start.event_id;
  text_ = Told();
  thought_ = Told();
}

void Updates::Stream(Told& told, std::string_view kind, std::int64_t block,
                     const std::string& delta) {
  if (delta.empty()) return;
  std::string text = delta;
  if (told.block != block && !told.text.empty()) text = "\n\n" + text;
  told.block = block;
  told.text += text;
  Chunk(kind, event_id_, text);
}

void Updates::Heard(const protocol::TextDelta& delta, std::int64_t) {
  if (delta.event_id == event_id_) Stream(text_, kAgent, delta.block_index, delta.delta);
}

void Updates::Heard(const protocol::ThinkingDelta& delta, std::int64_t) {
  if (delta.event_id == event_id_) Stream(thought_, kThought, delta.block_index, delta.delta);
}

/// A long call is known while it is still being written.
void Updates::Heard(const protocol::ToolCallDelta& delta, std::int64_t) {
  if (!delta.tool_name || delta.event_id != event_id_) return;
  const auto [place, fresh] = calls_.try_emplace(delta.tool_call_id);
  if (!fresh) return;
  place->second.tool = *delta.tool_name;
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, "tool_call", delta.tool_call_id).Member("title", *delta.tool_name);
  writer.Member("name", *delta.tool_name).Member("kind", KindOf(*delta.tool_name));
  writer.Member("status", "pending").EndObject();
}

void Updates::Heard(const protocol::MessageCancelled& cancelled, std::int64_t) {
  if (cancelled.event_id != event_id_) return;
  GiveUpCalls();
  event_id_.clear();
}

void Updates::Heard(const protocol::ToolExecutionStart& start, std::int64_t) {
  if (!calls_.contains(start.tool_call_id)) return;
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, "tool_call_update", start.tool_call_id);
  writer.Member("status", "in_progress").EndObject();
}

void Updates::Heard(const protocol::ToolExecutionUpdate& update, std::int64_t ts) {
  const auto found = calls_.find(update.tool_call_id);
  if (found == calls_.end()) return;
  Call& call = found->second;
  if (update.terminal_id) {
    call.terminal = *update.terminal_id;
    JsonWriter writer(out_.emplace_back());
    BeginCall(writer, "tool_call_update", update.tool_call_id).Key("content").BeginArray();
    WriteTerminal(writer, call.terminal);
    writer.EndArray().EndObject();
    return;
  }
  call.output += update.partial;
  if (call.output.size() > kMaxProgress) {
    const std::size_t line = call.output.find('\n', call.output.size() - kMaxProgress);
    call.output.erase(0, line == std::string::npos ? call.output.size() - kMaxProgress : line + 1);
  }
  if (ts - call.told_at < kProgressMs) return;
  call.told_at = ts;
  JsonWriter writer(out_.emplace_back());
  BeginCall(writer, "tool_call_update", update.tool_call_id).Key("content").BeginArray();
  WriteTextContent(writer, call.output);
  writer.EndArray().EndObject();
}

std::string Updates::CallOf(const protocol::PermissionAsk& ask) const {
  const auto found = calls_.find(ask.tool_call_id);
  FileDiffs diffs = DiffsOf(ask.tool, ask.args, sources_.cwd);
  const bool known = found != calls_.end() && found->second.args == ask.args;
  if (known) diffs = found->second.diffs;
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject().Member("toolCallId", ask.tool_call_id);
  writer.Member("title", ask.summary.empty() ? TitleOf(ask.tool, ask.args) : ask.summary);
  writer.Member("name", ask.tool).Member("kind", KindOf(ask.tool)).Member("status", "pending");
  writer.Key("content").BeginArray();
  for (const FileDiff& diff : diffs) WriteDiff(writer, diff);
  if (!ask.reason.empty()) WriteTextContent(writer, ask.reason);
  writer.EndArray();
  WriteLocations(writer.Key("locations"), LocationsOf(ask.tool, ask.args, sources_.cwd));
  writer.Member("rawInput", ask.args).EndObject();
  return json;
}

std::string UpdateLine(std::string_view session_id, std::string_view update) {
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id).Key("update").Text(update).EndObject();
  return rpc::NotificationLine("session/update", params);
}

std::string Updates::ToolOf(const std::string& tool_call_id) const {
  const auto found = calls_.find(tool_call_id);
  return found == calls_.end() ? "" : found->second.tool;
}

}  // namespace stet::acp
