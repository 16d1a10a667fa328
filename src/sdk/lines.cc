#include "sdk/lines.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/version.h"
#include "face/sdk_names.h"
#include "json/view.h"

namespace stet::sdk {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

/// The kinds of failures by which a wait's text begins, as the SDKs name them.
constexpr std::array<Names, 4> kRetryErrors = {{{"rate_limited", "rate_limit"},
                                                {"overloaded", "overloaded"},
                                                {"server", "server_error"},
                                                {"auth", "authentication_failed"}}};

std::string_view RetryErrorName(std::string_view kind) {
  const auto found = std::ranges::find(kRetryErrors, kind, &Names::first);
  return found == kRetryErrors.end() ? "unknown" : found->second;
}

/// Every try but the first is a retry.
constexpr int kMaxRetries = 9;

struct WriteBlock {
  JsonWriter& writer;

  bool operator()(const protocol::TextBlock& block) const {
    writer.BeginObject().Member("type", "text").Member("text", block.text).EndObject();
    return true;
  }
  bool operator()(const protocol::ThinkingBlock& block) const {
    writer.BeginObject().Member("type", "thinking").Member("thinking", block.text);
    writer.Member("signature", block.signature.value_or("")).EndObject();
    return true;
  }
  bool operator()(const protocol::RedactedThinkingBlock& block) const {
    const std::string data = JsonView(block.data.text).StringOr(block.data.text);
    writer.BeginObject().Member("type", "redacted_thinking").Member("data", data).EndObject();
    return true;
  }
  bool operator()(const protocol::ToolCallBlock& block) const {
    writer.BeginObject().Member("type", "tool_use").Member("id", block.tool_call_id);
    writer.Member("name", block.tool_name).Key("input");
    // A call whose arguments are no object has an error as its result.
    writer.Text(JsonView(block.args.text).is_object() ? block.args.text : "{}").EndObject();
    return true;
  }
  bool operator()(const protocol::ImageBlock& block) const {
    writer.BeginObject().Member("type", "text");
    writer.Member("text", fmt::format("({})", block.media_type)).EndObject();
    return true;
  }
  bool operator()(const Raw&) const { return false; }
};

void WriteBlocks(JsonWriter& writer, const protocol::Blocks& blocks) {
  writer.BeginArray();
  for (const protocol::Block& block : blocks) std::visit(WriteBlock{writer}, block);
  writer.EndArray();
}

/// A single text as a string, which most readers expect; anything else as blocks.
void WriteContent(JsonWriter& writer, const protocol::Blocks& blocks) {
  const auto* only =
      blocks.size() == 1 ? std::get_if<protocol::TextBlock>(&blocks.front()) : nullptr;
  if (only != nullptr)
    writer.String(only->text);
  else
    WriteBlocks(writer, blocks);
}

void WriteNames(JsonWriter& writer, std::string_view key, const protocol::Texts& names) {
  writer.Key(key).BeginArray();
  for (const std::string& name : names) writer.String(name);
  writer.EndArray();
}

}  // namespace

std::string_view ModeNameForOthers(std::string_view mode) {
  return mode == "bypass" ? "bypassPermissions" : mode;
}

void WriteUsage(JsonWriter& writer, const protocol::OptionalUsage& usage) {
  const protocol::Usage used = usage.value_or(protocol::Usage());
  writer.BeginObject().Member("input_tokens", used.input).Member("output_tokens", used.output);
  writer.Member("cache_creation_input_tokens", used.cache_write.value_or(0));
  writer.Member("cache_read_input_tokens", used.cache_read.value_or(0)).EndObject();
}

void StreamLines::End(JsonWriter& writer, std::string_view name) const {
  writer.Member("session_id", session_id_)
      .Member("uuid", face::UuidFrom(session_id_ + "/" + std::string(name)));
  writer.EndObject();
}

std::string StreamLines::Init(const protocol::LiveState& state) const {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "system").Member("subtype", "init");
  writer.Member("cwd", state.cwd);
  WriteNames(writer, "tools", state.tools);
  writer.Key("mcp_servers").Text("[]").Member("model", state.model);
  writer.Member("permissionMode", ModeNameForOthers(state.mode));
  writer.Key("slash_commands").Text("[]").Member("apiKeySource", "none");
  writer.Key("agents").Text("[]").Key("skills").Text("[]").Key("plugins").Text("[]");
  writer.Member("output_style", "default");
  writer.Member("stet_version", ProgramVersion()).Member("claude_code_version", ProgramVersion());
  End(writer, "init");
  return line;
}

std::vector<std::string> StreamLines::Assistant(const protocol::Event& event,
                                                const protocol::AssistantMessage& message) const {
  std::vector<std::string> lines;
  std::size_t index = 0;
  for (const protocol::Block& block : message.message.blocks) {
    std::string content;
    JsonWriter block_writer(content);
    if (!std::visit(WriteBlock{block_writer}, block)) continue;
    JsonWriter writer(lines.emplace_back());
    writer.BeginObject().Member("type", "assistant").Key("message").BeginObject();
    writer.Member("id", event.id).Member("type", "message").Member("role", "assistant");
    writer.Member("model", message.message.model);
    writer.Key("content").BeginArray().Text(content).EndArray();
    writer.Key("stop_reason").Text("null").Key("stop_sequence").Text("null");
    WriteUsage(writer.Key("usage"), message.message.usage);
    writer.EndObject().Key("parent_tool_use_id").Text("null");
    if (message.partial.value_or(false)) writer.Member("aborted", true);
    writer.Member("event_id", event.id);
    End(writer, fmt::format("{}/{}", event.id, index++));
  }
  return lines;
}

std::string StreamLines::ToolResult(const protocol::Event& event,
                                    const protocol::ToolResult& result) const {
  const protocol::Blocks blocks =
      Decode<protocol::Blocks>(result.content.text).value_or(protocol::Blocks());
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "user").Key("message").BeginObject();
  writer.Member("role", "user").Key("content").BeginArray().BeginObject();
  writer.Member("type", "tool_result").Member("tool_use_id", result.tool_call_id);
  WriteContent(writer.Key("content"), blocks);
  writer.Member("is_error", result.is_error).EndObject().EndArray().EndObject();
  writer.Key("parent_tool_use_id").Text("null").Key("tool_use_result").BeginObject();
  writer.Member("isError", result.is_error);
  WriteBlocks(writer.Key("content"), blocks);
  writer.EndObject().Member("event_id", event.id);
  End(writer, event.id);
  return line;
}

std::string StreamLines::Replay(const protocol::Event& event,
                                const protocol::UserMessage& message) const {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "user").Key("message").BeginObject();
  writer.Member("role", "user");
  WriteContent(writer.Key("content"), message.message.blocks);
  writer.EndObject().Key("parent_tool_use_id").Text("null").Member("isReplay", true);
  writer.Member("event_id", event.id);
  End(writer, event.id);
  return line;
}

std::string StreamLines::Retry(const protocol::Transient& transient,
                               const protocol::Wait& wait) const {
  std::string line;
  JsonWriter writer(line);
  const std::string_view kind = std::string_view(wait.what).substr(0, wait.what.find(':'));
  writer.BeginObject().Member("type", "system").Member("subtype", "api_retry");
  writer.Member("attempt", wait.attempt.value_or(1)).Member("max_retries", kMaxRetries);
  const std::int64_t delay = wait.until.value_or(transient.ts) - transient.ts;
  writer.Member("retry_delay_ms", std::max<std::int64_t>(delay, 0));
  writer.Key("error_status").Text("null");
  writer.Member("error", RetryErrorName(kind)).Member("message", wait.what);
  End(writer, fmt::format("{}", transient.seq));
  return line;
}

std::string StreamLines::Notice(const protocol::Transient& transient,
                                const protocol::Notice& notice) const {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "system").Member("subtype", "notice");
  writer.Member("by", notice.by).Member("message", notice.text);
  End(writer, fmt::format("{}", transient.seq));
  return line;
}

std::string StreamLines::Denied(const protocol::DenialRow& denial) const {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "system").Member("subtype", "permission_denied");
  writer.Member("tool_name", denial.tool_name).Member("tool_use_id", denial.tool_call_id);
  writer.Member("decision_reason_type", "rule").Member("decision_reason", denial.rule);
  writer.Member("message", fmt::format("not allowed (rule: {})", denial.rule));
  End(writer, denial.tool_call_id + "/denied");
  return line;
}

std::string StreamLines::StreamEvent(std::string_view event, std::string_view name) const {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "stream_event").Key("event").Text(event);
  writer.Key("parent_tool_use_id").Text("null");
  End(writer, name);
  return line;
}

}  // namespace stet::sdk
