// openai-responses: how a request is written for POST {base}/responses, without state on the
// server. The wire has no stop sequences: those of the request are left out.
#include "json/writer.h"
#include "provider/dialect.h"
#include "provider/openai/wire.h"
#include "provider/replay.h"

namespace stet::provider::openai_responses {
namespace {

/// Whether this is an item that the server may be shown as its own reasoning.
bool IsReasoning(std::string_view json) {
  const JsonView item(json);
  return item["type"].StringOr("") == "reasoning" && item["id"].is_string() &&
         item["summary"].is_array();
}

class Body {
 public:
  Body(const Model& model, const Request& request)
      : model_(model), request_(request), ids_(model, request), json_(text_) {}

  Status Write(WireRequest& wire) {
    json_.BeginObject().Member("model", model_.id);
    WriteSettings();
    WriteReasoning();
    WriteOutput();
    WriteSystem();
    if (!model_.quirks.no_tools) WriteTools();
    RETURN_IF_ERROR(WriteInput());
    json_.EndObject();
    wire.parts = parts_.TakeParts();
    wire.body = std::move(text_);
    return {};
  }

 private:
  void WriteSettings();
  void WriteReasoning();
  void WriteOutput();
  void WriteSystem();
  void WriteTools();
  void WriteToolChoice();
  Status WriteInput();
  Status WriteUser(const UserInput& input);
  void WriteBlock(const protocol::Block& block);
  Status WriteResult(const ToolResult& result);
  Status WriteParts(const protocol::Blocks& blocks);

  const Model& model_;
  const Request& request_;
  const WireIds ids_;
  std::string text_;
  JsonWriter json_;
  PartWriter parts_{text_};
};

void Body::WriteSettings() {
  json_.Member("stream", true).Member("store", false);
  if (const std::int64_t most = openai::MaxTokens(model_, request_); most > 0)
    json_.Member("max_output_tokens", most);
  if (request_.cache && !request_.cache_key.empty() && !model_.quirks.no_cache_key)
    json_.Member("prompt_cache_key", request_.cache_key);
  if (!request_.user.empty() && !model_.quirks.no_metadata)
    json_.Member("safety_identifier", request_.user);
}

void Body::WriteReasoning() {
  if (model_.thinking == Thinking::kNone) return;
  // Nothing is stored on the server, so the reasoning must come to us to go back.
  json_.Key("include").BeginArray().String("reasoning.encrypted_content").EndArray();
  json_.Key("reasoning").BeginObject();
  if (const std::string effort = EffortFor(model_, request_.effort); !effort.empty())
    json_.Member("effort", effort);
  json_.Member("summary", "auto").EndObject();
}

void Body::WriteOutput() {
  if (!request_.output) return;
  parts_.Begin();
  json_.Key("text").BeginObject().Key("format").BeginObject();
  if (model_.quirks.no_json_schema) {
    json_.Member("type", "json_object");
  } else {
    json_.Member("type", "json_schema").Member("name", request_.output->name);
    json_.Member("schema", request_.output->schema);
  }
  json_.EndObject().EndObject();
  parts_.End(PartKind::kOutput);
}

void Body::WriteSystem() {
  const std::string system = JoinedSystem(request_);
  if (system.empty()) return;
  parts_.Begin();
  json_.Member("instructions", system);
  parts_.End(PartKind::kSystem);
}

void Body::WriteTools() {
  if (request_.tools.empty()) return;
  json_.Key("tools").BeginArray();
  for (const ToolSpec& tool : request_.tools) {
    parts_.Begin();
    json_.BeginObject().Member("type", "function").Member("name", tool.name);
    json_.Member("description", tool.description).Member("parameters", tool.schema);
    // The wire's default is true, which most schemas do not fit.
    if (!model_.quirks.no_strict) json_.Member("strict", false);
    json_.EndObject();
    parts_.End(PartKind::kTool);
  }
  json_.EndArray();
  if (!model_.quirks.no_parallel_flag) json_.Member("parallel_tool_calls", true);
  if (!model_.quirks.no_tool_choice) WriteToolChoice();
}

void Body::WriteToolChoice() {
  switch (request_.tool_choice.kind) {
    case ToolChoice::Kind::kAuto: return;
    case ToolChoice::Kind::kNone: json_.Member("tool_choice", "none"); return;
    case ToolChoice::Kind::kAny: json_.Member("tool_choice", "required"); return;
    case ToolChoice::Kind::kNamed: break;
  }
  json_.Key("tool_choice").BeginObject().Member("type", "function");
  json_.Member("name", request_.tool_choice.name).EndObject();
}

Status Body::WriteInput() {
  json_.Key("input").BeginArray();
  for (const Entry& entry : request_.entries) {
    if (const auto* turn = std::get_if<AssistantTurn>(&entry)) {
      const ReplayBlocks blocks(model_, *turn);
      for (const protocol::Block& block : blocks.all()) WriteBlock(block);
    } else if (const auto* result = std::get_if<ToolResult>(&entry)) {
      RETURN_IF_ERROR(WriteResult(*result));
    } else {
      RETURN_IF_ERROR(WriteUser(std::get<UserInput>(entry)));
    }
  }
  json_.EndArray();
  return {};
}

Status Body::WriteUser(const UserInput& input) {
  parts_.Begin();
  json_.BeginObject().Member("type", "message").Member("role", "user").Key("content");
  RETURN_IF_ERROR(WriteParts(input.blocks));
  json_.EndObject();
  parts_.End(PartKind::kMessage);
  return {};
}

Status Body::WriteParts(const protocol::Blocks& blocks) {
  json_.BeginArray();
  for (const protocol::Block& block : blocks) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
      json_.BeginObject().Member("type", "input_text").Member("text", text->text).EndObject();
    } else if (const auto* image = std::get_if<protocol::ImageBlock>(&block)) {
      ASSIGN_OR_RETURN(const std::string url, openai::DataUrl(request_, *image));
      json_.BeginObject().Member("type", "input_image").Member("detail", "auto");
      json_.Member("image_url", url).EndObject();
    }
  }
  json_.EndArray();
  return {};
}

void Body::WriteBlock(const protocol::Block& block) {
  parts_.Begin();
  const std::size_t before = text_.size();
  if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
    json_.BeginObject().Member("type", "message").Member("role", "assistant");
    // The decoder keeps a message's phase as the signature of its text.
    if (text->signature == "commentary" || text->signature == "final_answer")
      json_.Member("phase", *text->signature);
    json_.Member("content", text->text).EndObject();
  } else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
    json_.BeginObject().Member("type", "function_call");
    json_.Member("call_id", ids_.IdOf(call->tool_call_id)).Member("name", call->tool_name);
    json_.Member("arguments", ArgsText(*call)).EndObject();
  } else if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block)) {
    // The signature is the whole reasoning item. One that is none is not ours to send.
    if (thinking->signature && CheckJson(*thinking->signature) && IsReasoning(*thinking->signature))
      json_.Text(*thinking->signature);
  } else if (const auto* hidden = std::get_if<protocol::RedactedThinkingBlock>(&block)) {
    if (IsReasoning(hidden->data.text)) json_.Text(hidden->data.text);
  }
  if (text_.size() > before) parts_.End(PartKind::kMessage);
}

Status Body::WriteResult(const ToolResult& result) {
  parts_.Begin();
  json_.BeginObject().Member("type", "function_call_output");
  json_.Member("call_id", ids_.IdOf(result.tool_call_id)).Key("output");
  if (openai::HasImages(result.content)) {
    protocol::Blocks parts;
    if (std::string text = openai::ResultText(result); !text.empty())
      parts.emplace_back(protocol::TextBlock{.text = std::move(text)});
    for (const protocol::Block& block : result.content) {
      if (std::holds_alternative<protocol::ImageBlock>(block)) parts.push_back(block);
    }
    RETURN_IF_ERROR(WriteParts(parts));
  } else {
    json_.String(openai::ResultText(result));
  }
  json_.EndObject();
  parts_.End(PartKind::kMessage);
  return {};
}

}  // namespace

Result<WireRequest> Encode(const Model& model, const Request& request) {
  WireRequest wire{.url = model.base_url + "/responses", .headers = openai::RequestHeaders(model)};
  RETURN_IF_ERROR(Body(model, request).Write(wire));
  return wire;
}

}  // namespace stet::provider::openai_responses
