// The Anthropic Messages wire.
#include "emulator/reply_wire/reply_wire.h"
#include "json/writer.h"

namespace stet::emulator {
namespace {

std::string StopReason(const std::string& stop) {
  if (stop == "end") return "end_turn";
  if (stop == "refused") return "refusal";
  if (stop == "paused") return "pause_turn";
  if (stop == "overflow") return "model_context_window_exceeded";
  return stop;
}

std::string ErrorType(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 402: return "billing_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 409: return "conflict_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 504: return "timeout_error";
    case 529: return "overloaded_error";
    default: return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

/// Writes one reply, block by block.
class AnthropicWriter {
 public:
  AnthropicWriter(const Exchange& exchange, const Reply& reply)
      : exchange_(exchange), reply_(reply), events_(FramingOf(reply)) {}

  Events Run() {
    MessageStart();
    for (const Block& block : reply_.blocks) {
      std::visit([&](const auto& one) { Write(one); }, block);
      Emit("content_block_stop", [&](JsonWriter& json) { json.Member("index", index_); });
      ++index_;
    }
    events_.EndOfContent();
    MessageDelta();
    Emit("message_stop", [](JsonWriter&) {});
    return events_.TakeEvents();
  }

 private:
  template <class Members>
  void Emit(std::string_view type, Members members) {
    data_.clear();
    JsonWriter json(data_);
    json.BeginObject().Member("type", type);
    members(json);
    json.EndObject();
    events_.Add(type, data_);
  }

  void MessageStart() {
    Emit("message_start", [&](JsonWriter& json) {
      json.Key("message").BeginObject();
      json.Member("id", MakeId("msg_", exchange_.number));
      json.Member("type", "message").Member("role", "assistant");
      json.Member("model", exchange_.model).Member("content", Raw{"[]"});
      json.Member("stop_reason", Raw{}).Member("stop_sequence", Raw{});
      json.Member("stop_details", Raw{}).Member("container", Raw{}).Member("diagnostics", Raw{});
      json.Key("usage").BeginObject();
      InputUsage(json);
      json.Key("cache_creation").BeginObject();
      json.Member("ephemeral_5m_input_tokens", exchange_.usage.cache_write);
      json.Member("ephemeral_1h_input_tokens", 0).EndObject();
      json.Member("output_tokens", exchange_.usage.output > 0 ? 1 : 0);
      json.Member("output_tokens_details", Raw{}).Member("server_tool_use", Raw{});
      json.Member("service_tier", "standard").Member("inference_geo", Raw{});
      json.Member("speed", "standard").EndObject();
      json.EndObject();
    });
  }

  void InputUsage(JsonWriter& json) const {
    json.Member("input_tokens", exchange_.usage.input);
    json.Member("cache_creation_input_tokens", exchange_.usage.cache_write);
    json.Member("cache_read_input_tokens", exchange_.usage.cache_read);
  }

  void MessageDelta() {
    const std::string reason = StopReason(StopOf(reply_));
    Emit("message_delta", [&](JsonWriter& json) {
      json.Key("delta").BeginObject().Member("stop_reason", reason).Key("stop_sequence");
      if (reason == "stop_sequence")
        json.String(exchange_.stop_sequence);
      else
        json.Text("null");
      json.Key("stop_details");
      if (reason == "refusal")
        json.Text(R"({"type":"refusal","category":null,"explanation":null})");
      else
        json.Text("null");
      json.Member("container", Raw{}).EndObject();
      json.Key("usage").BeginObject();
      InputUsage(json);
      json.Member("output_tokens", exchange_.usage.output);
      json.Key("output_tokens_details").BeginObject();
      json.Member("thinking_tokens", exchange_.usage.reasoning).EndObject();
      json.Member("server_tool_use", Raw{}).EndObject();
    });
  }

  template <class Members>
  void BlockStart(std::string_view type, Members members) {
    Emit("content_block_start", [&](JsonWriter& json) {
      json.Member("index", index_).Key("content_block").BeginObject().Member("type", type);
      members(json);
      json.EndObject();
    });
    if (index_ == 0) Emit("ping", [](JsonWriter&) {});
  }

  void Delta(std::string_view type, std::string_view member, std::string_view text) {
    Emit("content_block_delta", [&](JsonWriter& json) {
      json.Member("index", index_).Key("delta").BeginObject();
      json.Member("type", type).Member(member, text).EndObject();
    });
  }

  void Text(std::string_view text) {
    BlockStart("text",
               [](JsonWriter& json) { json.Member("text", "").Member("citations", Raw{}); });
    ForEachPart(text, reply_.delta,
                [&](std::string_view part) { Delta("text_delta", "text", part); });
  }

  void Write(const TextBlock& block) { Text(block.text); }
  void Write(const RefusalBlock& block) { Text(block.text); }

  void Write(const ThinkingBlock& block) {
    BlockStart("thinking",
               [](JsonWriter& json) { json.Member("thinking", "").Member("signature", ""); });
    ForEachPart(block.text, reply_.delta,
                [&](std::string_view part) { Delta("thinking_delta", "thinking", part); });
    if (!block.signature.empty()) Delta("signature_delta", "signature", block.signature);
  }

  void Write(const RedactedBlock& block) {
    BlockStart("redacted_thinking", [&](JsonWriter& json) { json.Member("data", block.data); });
  }

  void Write(const CallBlock& block) {
    const std::string id =
        block.id.empty() ? MakeId("toolu_", exchange_.number, static_cast<std::size_t>(index_))
                         : block.id;
    BlockStart("tool_use", [&](JsonWriter& json) {
      json.Member("id", id).Member("name", block.name).Member("input", Raw{"{}"});
      json.Key("caller").BeginObject().Member("type", "direct").EndObject();
    });
    Delta("input_json_delta", "partial_json", "");
    // As real servers do, a call without arguments sends none.
    if (block.args == "{}") return;
    ForEachPart(block.args, reply_.delta,
                [&](std::string_view part) { Delta("input_json_delta", "partial_json", part); });
  }

  const Exchange& exchange_;
  const Reply& reply_;
  EventWriter events_;
  std::string data_;
  int index_ = 0;
};

}  // namespace

Events AnthropicReply(const Exchange& exchange, const Reply& reply) {
  return AnthropicWriter(exchange, reply).Run();
}

std::string AnthropicError(const Exchange& exchange, const WireError& error) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Member("type", "error").Key("error").BeginObject();
  json.Member("type", error.type.empty() ? ErrorType(error.status) : error.type);
  json.Member("message", error.message).EndObject();
  json.Member("request_id", MakeId("req_", exchange.number)).EndObject();
  return out;
}

}  // namespace stet::emulator
