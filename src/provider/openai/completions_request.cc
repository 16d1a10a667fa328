// openai-completions: how a request is written for POST {base}/chat/completions.
#include "json/writer.h"
#include "provider/dialect.h"
#include "provider/openai/wire.h"
#include "provider/replay.h"

namespace stet::provider::openai_completions {
namespace {

class Body {
 public:
  Body(const Model& model, const Request& request)
      : model_(model), request_(request), ids_(model, request), json_(text_) {}

  Status Write(WireRequest& wire) {
    json_.BeginObject().Member("model", model_.id);
    WriteSettings();
    WriteOutput();
    if (!model_.quirks.no_tools) WriteTools();
    RETURN_IF_ERROR(WriteMessages());
    json_.EndObject();
    wire.parts = parts_.TakeParts();
    wire.body = std::move(text_);
    return {};
  }

 private:
  void WriteSettings();
  void WriteOutput();
  void WriteTools();
  void WriteToolChoice();
  Status WriteMessages();
  Status WriteUser(const UserInput& input);
  void WriteAssistant(const AssistantTurn& turn);
  void WriteReasoning(const ReplayBlocks& blocks);
  void WriteCalls(const ReplayBlocks& blocks);
  void WriteResult(const ToolResult& result);
  Status WriteParts(const protocol::Blocks& blocks);
  Status WriteHeldImages();

  const Model& model_;
  const Request& request_;
  const WireIds ids_;
  std::string text_;
  JsonWriter json_;
  PartWriter parts_{text_};
  protocol::Blocks held_images_;  // Of results: tool messages cannot hold them.
};

void Body::WriteSettings() {
  const Quirks& quirks = model_.quirks;
  json_.Member("stream", true);
  if (!quirks.no_stream_options)
    json_.Key("stream_options").BeginObject().Member("include_usage", true).EndObject();
  if (const std::int64_t most = openai::MaxTokens(model_, request_); most > 0)
    json_.Member(quirks.max_tokens_name ? "max_tokens" : "max_completion_tokens", most);
  if (const std::string effort = EffortFor(model_, request_.effort); !effort.empty()) {
    if (quirks.effort_object) {
      json_.Key("reasoning").BeginObject().Member("effort", effort).EndObject();
    } else {
      json_.Member("reasoning_effort", effort);
    }
  }
  if (!request_.stop_sequences.empty()) {
    json_.Key("stop").BeginArray();
    for (const std::string& sequence : request_.stop_sequences) json_.String(sequence);
    json_.EndArray();
  }
  if (request_.cache && !request_.cache_key.empty() && !quirks.no_cache_key)
    json_.Member("prompt_cache_key", request_.cache_key);
  if (!request_.user.empty() && !quirks.no_metadata)
    json_.Member("safety_identifier", request_.user);
}

void Body::WriteOutput() {
  if (!request_.output) return;
  parts_.Begin();
  json_.Key("response_format").BeginObject();
  if (model_.quirks.no_json_schema) {
    json_.Member("type", "json_object").EndObject();
    parts_.End(PartKind::kOutput);
    return;
  }
  json_.Member("type", "json_schema").Key("json_schema").BeginObject();
  json_.Member("name", request_.output->name).Member("schema", request_.output->schema);
  json_.EndObject().EndObject();
  parts_.End(PartKind::kOutput);
}

void Body::WriteTools() {
  if (request_.tools.empty()) return;
  json_.Key("tools").BeginArray();
  for (const ToolSpec& tool : request_.tools) {
    parts_.Begin();
    json_.BeginObject().Member("type", "function").Key("function").BeginObject();
    json_.Member("name", tool.name).Member("description", tool.description);
    json_.Member("parameters", tool.schema).EndObject().EndObject();
    parts_.End(PartKind::kTool);
  }
  json_.EndArray();
  if (!model_.quirks.no_tool_choice) WriteToolChoice();
}

void Body::WriteToolChoice() {
  switch (request_.tool_choice.kind) {
    case ToolChoice::Kind::kAuto: return;
    case ToolChoice::Kind::kNone: json_.Member("tool_choice", "none"); return;
    case ToolChoice::Kind::kAny: json_.Member("tool_choice", "required"); return;
    case ToolChoice::Kind::kNamed: break;
  }
  json_.Key("tool_choice").BeginObject().Member("type", "function").Key("function").BeginObject();
  json_.Member("name", request_.tool_choice.name).EndObject().EndObject();
}

Status Body::WriteMessages() {
  json_.Key("messages").BeginArray();
  if (const std::string system = JoinedSystem(request_); !system.empty()) {
    parts_.Begin();
    json_.BeginObject().Member("role", model_.quirks.system_role ? "system" : "developer");
    json_.Member("content", system).EndObject();
    parts_.End(PartKind::kSystem);
  }
  for (const Entry& entry : request_.entries) {
    if (const auto* result = std::get_if<ToolResult>(&entry)) {
      WriteResult(*result);
      continue;
    }
    RETURN_IF_ERROR(WriteHeldImages());
    if (const auto* turn = std::get_if<AssistantTurn>(&entry)) {
      WriteAssistant(*turn);
    } else {
      RETURN_IF_ERROR(WriteUser(std::get<UserInput>(entry)));
    }
  }
  RETURN_IF_ERROR(WriteHeldImages());
  json_.EndArray();
  return {};
}

Status Body::WriteUser(const UserInput& input) {
  parts_.Begin();
  json_.BeginObject().Member("role", "user");
  // Plain text goes as a string: many servers take no parts.
  if (openai::HasImages(input.blocks)) {
    RETURN_IF_ERROR(WriteParts(input.blocks));
  } else {
    json_.Member("content", protocol::PlainText(input.blocks));
  }
  json_.EndObject();
  parts_.End(PartKind::kMessage);
  return {};
}

Status Body::WriteParts(const protocol::Blocks& blocks) {
  json_.Key("content").BeginArray();
  for (const protocol::Block& block : blocks) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
      json_.BeginObject().Member("type", "text").Member("text", text->text).EndObject();
    } else if (const auto* image = std::get_if<protocol::ImageBlock>(&block)) {
      ASSIGN_OR_RETURN(const std::string url, openai::DataUrl(request_, *image));
      json_.BeginObject().Member("type", "image_url").Key("image_url").BeginObject();
      json_.Member("url", url).EndObject().EndObject();
    }
  }
  json_.EndArray();
  return {};
}

void Body::WriteAssistant(const AssistantTurn& turn) {
  const ReplayBlocks blocks(model_, turn);
  if (blocks.empty()) return;
  parts_.Begin();
  json_.BeginObject().Member("role", "assistant");
  WriteReasoning(blocks);
  std::string text;
  for (const protocol::Block& block : blocks.all()) {
    const auto* said = std::get_if<protocol::TextBlock>(&block);
    if (said == nullptr) continue;
    if (!text.empty()) text += "\n\n";
    text += said->text;
  }
  json_.Key("content");
  if (text.empty()) {
    json_.Text("null");
  } else {
    json_.String(text);
  }
  WriteCalls(blocks);
  json_.EndObject();
  parts_.End(PartKind::kMessage);
}

/// What a decoder kept as a block's signature: an array of reasoning details.
std::string_view DetailsOf(const protocol::Block& block) {
  const auto signature = [](const auto& value) -> std::string_view {
    if constexpr (requires { value.signature; }) {
      if (value.signature) return *value.signature;
    }
    return {};
  };
  return std::visit(signature, block);
}

void Body::WriteReasoning(const ReplayBlocks& blocks) {
  if (model_.quirks.echo_reasoning) {
    std::string reasoning;
    for (const protocol::Block& block : blocks.all()) {
      if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block))
        reasoning += thinking->text;
    }
    if (!reasoning.empty()) json_.Member("reasoning_content", reasoning);
  }
  if (!model_.quirks.echo_reasoning_details) return;
  std::string details;
  for (const protocol::Block& block : blocks.all()) {
    JsonView(DetailsOf(block)).ForEach([&](const JsonView& detail) {
      if (!details.empty()) details += ',';
      details += detail.text();
    });
  }
  if (!details.empty()) json_.Key("reasoning_details").Text("[" + details + "]");
}

void Body::WriteCalls(const ReplayBlocks& blocks) {
  bool any = false;
  for (const protocol::Block& block : blocks.all()) {
    const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
    if (call == nullptr) continue;
    if (!any) json_.Key("tool_calls").BeginArray();
    any = true;
    json_.BeginObject().Member("id", ids_.IdOf(call->tool_call_id)).Member("type", "function");
    json_.Key("function").BeginObject().Member("name", call->tool_name);
    json_.Member("arguments", ArgsText(*call)).EndObject().EndObject();
  }
  if (any) json_.EndArray();
}

void Body::WriteResult(const ToolResult& result) {
  parts_.Begin();
  json_.BeginObject().Member("role", "tool");
  json_.Member("tool_call_id", ids_.IdOf(result.tool_call_id));
  json_.Member("content", openai::ResultText(result)).EndObject();
  parts_.End(PartKind::kMessage);
  for (const protocol::Block& block : result.content) {
    if (std::holds_alternative<protocol::ImageBlock>(block)) held_images_.push_back(block);
  }
}

// Only after all results of a turn: nothing may stand between a call and its results.
Status Body::WriteHeldImages() {
  if (held_images_.empty()) return {};
  protocol::Blocks blocks = {protocol::TextBlock{.text = "Images of the tool results:"}};
  blocks.insert(blocks.end(), held_images_.begin(), held_images_.end());
  held_images_.clear();
  return WriteUser({.blocks = std::move(blocks)});
}

}  // namespace

Result<WireRequest> Encode(const Model& model, const Request& request) {
  WireRequest wire{.url = model.base_url + "/chat/completions",
                   .headers = openai::RequestHeaders(model)};
  RETURN_IF_ERROR(Body(model, request).Write(wire));
  return wire;
}

}  // namespace stet::provider::openai_completions
