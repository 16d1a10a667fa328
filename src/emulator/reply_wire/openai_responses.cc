// The OpenAI Responses wire.
#include "emulator/reply_wire/reply_wire.h"
#include "json/writer.h"

namespace stet::emulator {
namespace {

/// One moment for all replies, so that the same script gives the same bytes.

struct Ending {
  std::string status = "completed";
  std::string reason;  // Of an incomplete one.
};

Ending EndingOf(const Reply& reply) {
  const std::string stop = StopOf(reply);
  if (stop == "end" || stop == "tool_use" || stop == "stop_sequence" || stop == "paused") return {};
  if (stop == "max_tokens" || stop == "overflow") return {"incomplete", "max_output_tokens"};
  if (stop != "refused") return {"incomplete", stop};
  for (const Block& block : reply.blocks) {
    if (std::holds_alternative<RefusalBlock>(block)) return {};  // Its part says it.
  }
  return {"incomplete", "content_filter"};
}

void WriteUsage(JsonWriter& json, const Usage& usage) {
  json.Key("usage").BeginObject().Member("input_tokens", usage.prompt());
  json.Key("input_tokens_details").BeginObject().Member("cached_tokens", usage.cache_read);
  json.Member("cache_write_tokens", usage.cache_write).EndObject();
  json.Member("output_tokens", usage.output).Key("output_tokens_details").BeginObject();
  json.Member("reasoning_tokens", usage.reasoning).EndObject();
  json.Member("total_tokens", usage.prompt() + usage.output).EndObject();
}

/// The `response` member: as it begins, and as it ends.
struct ResponseState {
  std::string status = "in_progress";
  std::string reason;
  std::string_view output = "[]";
  std::string_view error = "null";
  bool ended = false;
};

void WriteResponse(JsonWriter& json, const Exchange& exchange, const ResponseState& state) {
  json.Key("response").BeginObject().Member("id", MakeId("resp_", exchange.number));
  json.Member("object", "response").Member("created_at", kCreated);
  json.Member("status", state.status).Member("background", false);
  if (state.ended && state.status == "completed") json.Member("completed_at", kCreated);
  json.Member("access_programs", Raw{}).Key("error").Text(state.error);
  json.Key("incomplete_details");
  if (state.reason.empty())
    json.Text("null");
  else
    json.BeginObject().Member("reason", state.reason).EndObject();
  json.Member("instructions", Raw{}).Member("max_output_tokens", Raw{});
  json.Member("model", exchange.model).Key("output").Text(state.output);
  json.Member("parallel_tool_calls", true).Member("previous_response_id", Raw{});
  json.Member("reasoning", Raw{R"({"effort":null,"summary":null})"});
  json.Member("temperature", 1).Member("text", Raw{R"({"format":{"type":"text"}})"});
  json.Member("tool_choice", "auto").Member("tools", Raw{"[]"}).Member("top_p", 1);
  json.Member("truncation", "disabled");
  if (state.ended) WriteUsage(json, exchange.usage);
  json.Member("metadata", Raw{"{}"}).EndObject();
}

class ResponsesWriter {
 public:
  ResponsesWriter(const Exchange& exchange, const Reply& reply)
      : exchange_(exchange), reply_(reply), events_(FramingOf(reply)) {}

  Events Run() {
    Emit("response.created", [&](JsonWriter& json) { WriteResponse(json, exchange_, {}); });
    Emit("response.in_progress", [&](JsonWriter& json) { WriteResponse(json, exchange_, {}); });
    for (const Block& block : reply_.blocks) {
      std::visit([&](const auto& one) { Write(one); }, block);
      ++index_;
    }
    events_.EndOfContent();
    const Ending ending = EndingOf(reply_);
    const std::string output = "[" + output_ + "]";
    Emit("response." + ending.status, [&](JsonWriter& json) {
      WriteResponse(
          json, exchange_,
          {.status = ending.status, .reason = ending.reason, .output = output, .ended = true});
    });
    return events_.TakeEvents();
  }

 private:
  template <class Members>
  void Emit(std::string_view type, Members members) {
    data_.clear();
    JsonWriter json(data_);
    json.BeginObject().Member("type", type).Member("sequence_number", sequence_++);
    members(json);
    json.EndObject();
    events_.Add(type, data_);
  }

  /// An event inside the current item.
  template <class Members>
  void EmitPart(std::string_view type, Members members) {
    Emit(type, [&](JsonWriter& json) {
      json.Member("item_id", id_).Member("output_index", index_);
      members(json);
    });
  }

  void ItemAdded(std::string_view item) { Item("response.output_item.added", item); }
  void ItemDone(const std::string& item) {
    Item("response.output_item.done", item);
    if (!output_.empty()) output_ += ',';
    output_ += item;
  }
  void Item(std::string_view type, std::string_view item) {
    Emit(type,
         [&](JsonWriter& json) { json.Member("output_index", index_).Key("item").Text(item); });
  }

  [[nodiscard]] std::string NewId(std::string_view prefix) const {
    return MakeId(prefix, exchange_.number, static_cast<std::size_t>(index_));
  }

  [[nodiscard]] std::string Message(std::string_view status, std::string_view content) const {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Member("id", id_).Member("type", "message").Member("status", status);
    json.Key("content").BeginArray();
    if (!content.empty()) json.Text(content);
    json.EndArray().Member("role", "assistant").EndObject();
    return out;
  }

  static std::string TextPart(std::string_view text) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Member("type", "output_text").Member("annotations", Raw{"[]"});
    json.Member("logprobs", Raw{"[]"}).Member("text", text).EndObject();
    return out;
  }

  static std::string RefusalPart(std::string_view text) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Member("type", "refusal").Member("refusal", text).EndObject();
    return out;
  }

  void Part(std::string_view type, std::string_view part) {
    EmitPart(type,
             [&](JsonWriter& json) { json.Member("content_index", 0).Key("part").Text(part); });
  }

  void Write(const TextBlock& block) {
    id_ = NewId("msg_");
    ItemAdded(Message("in_progress", ""));
    Part("response.content_part.added", TextPart(""));
    ForEachPart(block.text, reply_.delta, [&](std::string_view part) {
      EmitPart("response.output_text.delta", [&](JsonWriter& json) {
        json.Member("content_index", 0).Member("delta", part).Member("logprobs", Raw{"[]"});
      });
    });
    EmitPart("response.output_text.done", [&](JsonWriter& json) {
      json.Member("content_index", 0).Member("text", block.text).Member("logprobs", Raw{"[]"});
    });
    Part("response.content_part.done", TextPart(block.text));
    ItemDone(Message("completed", TextPart(block.text)));
  }

  void Write(const RefusalBlock& block) {
    id_ = NewId("msg_");
    ItemAdded(Message("in_progress", ""));
    Part("response.content_part.added", RefusalPart(""));
    ForEachPart(block.text, reply_.delta, [&](std::string_view part) {
      EmitPart("response.refusal.delta",
               [&](JsonWriter& json) { json.Member("content_index", 0).Member("delta", part); });
    });
    EmitPart("response.refusal.done", [&](JsonWriter& json) {
      json.Member("content_index", 0).Member("refusal", block.text);
    });
    Part("response.content_part.done", RefusalPart(block.text));
    ItemDone(Message("completed", RefusalPart(block.text)));
  }

  static std::string SummaryPart(std::string_view text) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Member("type", "summary_text").Member("text", text).EndObject();
    return out;
  }

  [[nodiscard]] std::string Reasoning(std::string_view summary, std::string_view encrypted) const {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Member("id", id_).Member("type", "reasoning").Key("summary").BeginArray();
    if (!summary.empty()) json.Text(summary);
    json.EndArray();
    if (!encrypted.empty()) json.Member("encrypted_content", encrypted);
    json.EndObject();
    return out;
  }

  void Write(const ThinkingBlock& block) {
    id_ = NewId("rs_");
    ItemAdded(Reasoning("", ""));
    Summary("response.reasoning_summary_part.added",
            [](JsonWriter& json) { json.Key("part").Text(SummaryPart("")); });
    ForEachPart(block.text, reply_.delta, [&](std::string_view part) {
      Summary("response.reasoning_summary_text.delta",
              [&](JsonWriter& json) { json.Member("delta", part); });
    });
    Summary("response.reasoning_summary_text.done",
            [&](JsonWriter& json) { json.Member("text", block.text); });
    Summary("response.reasoning_summary_part.done",
            [&](JsonWriter& json) { json.Key("part").Text(SummaryPart(block.text)); });
    ItemDone(Reasoning(SummaryPart(block.text), block.signature));
  }

  template <class Members>
  void Summary(std::string_view type, Members members) {
    EmitPart(type, [&](JsonWriter& json) {
      json.Member("summary_index", 0);
      members(json);
    });
  }

  void Write(const RedactedBlock& block) {
    id_ = NewId("rs_");
    ItemAdded(Reasoning("", ""));
    ItemDone(Reasoning("", block.data));
  }

  [[nodiscard]] std::string Call(const CallBlock& block, std::string_view status,
                                 std::string_view args) const {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Member("id", id_).Member("type", "function_call").Member("status", status);
    json.Member("arguments", args).Key("call_id");
    json.String(block.id.empty() ? NewId("call_") : block.id);
    json.Member("name", block.name).EndObject();
    return out;
  }

  void Write(const CallBlock& block) {
    id_ = NewId("fc_");
    ItemAdded(Call(block, "in_progress", ""));
    ForEachPart(block.args, reply_.delta, [&](std::string_view part) {
      EmitPart("response.function_call_arguments.delta",
               [&](JsonWriter& json) { json.Member("delta", part); });
    });
    EmitPart("response.function_call_arguments.done",
             [&](JsonWriter& json) { json.Member("arguments", block.args); });
    ItemDone(Call(block, "completed", block.args));
  }

  const Exchange& exchange_;
  const Reply& reply_;
  EventWriter events_;
  std::string data_;
  std::string id_;      // Of the current item.
  std::string output_;  // Finished items, with commas.
  int index_ = 0;
  int sequence_ = 0;
};

}  // namespace

Events ResponsesReply(const Exchange& exchange, const Reply& reply) {
  return ResponsesWriter(exchange, reply).Run();
}

std::string ResponsesErrorEvent(const Exchange& exchange, const WireError& error,
                                std::size_t sequence, bool failed) {
  const std::string code = error.code.empty() ? "server_error" : error.code;
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Member("type", failed ? "response.failed" : "error");
  json.Member("sequence_number", static_cast<std::int64_t>(sequence));
  if (!failed) {
    json.Member("code", code).Member("message", error.message).Member("param", Raw{}).EndObject();
    return out;
  }
  std::string inner;
  JsonWriter(inner).BeginObject().Member("code", code).Member("message", error.message).EndObject();
  WriteResponse(json, exchange, {.status = "failed", .error = inner});
  json.EndObject();
  return out;
}

}  // namespace stet::emulator
