// The OpenAI Chat Completions wire, and how servers that follow it differ.
#include "emulator/reply_wire/reply_wire.h"
#include "json/json.h"
#include "json/writer.h"

namespace stet::emulator {
namespace {

/// One moment for all replies, so that the same script gives the same bytes.

std::string FinishReason(const Reply& reply) {
  std::string stop = StopOf(reply);
  if (stop == "tool_use") return reply.HasQuirk("stop_for_calls") ? "stop" : "tool_calls";
  if (stop == "end" || stop == "stop_sequence" || stop == "paused") return "stop";
  if (stop == "max_tokens" || stop == "overflow") return "length";
  if (stop != "refused") return stop;
  for (const Block& block : reply.blocks) {
    if (std::holds_alternative<RefusalBlock>(block)) return "stop";  // The delta says it.
  }
  return "content_filter";
}

class CompletionsWriter {
 public:
  CompletionsWriter(const Exchange& exchange, const Reply& reply)
      : exchange_(exchange),
        reply_(reply),
        events_(FramingOf(reply)),
        args_object_(reply.HasQuirk("args_object")),
        whole_calls_(args_object_ || reply.HasQuirk("whole_calls")),
        no_index_(reply.HasQuirk("no_index")),
        no_id_(reply.HasQuirk("no_id")),
        repeat_name_(reply.HasQuirk("repeat_name")),
        null_content_(reply.HasQuirk("null_content")),
        usage_in_last_(reply.HasQuirk("usage_in_last")),
        details_(reply.HasQuirk("reasoning_details")),
        reasoning_name_(reply.HasQuirk("reasoning") ? "reasoning" : "reasoning_content") {}

  Events Run() {
    Delta([&](JsonWriter& json) {
      json.Member("role", "assistant").Key("content").Text(null_content_ ? "null" : "\"\"");
      json.Member("refusal", Raw{});
    });
    for (const Block& block : reply_.blocks) {
      std::visit([&](const auto& one) { Write(one); }, block);
    }
    events_.EndOfContent();
    Chunk(
        [&](JsonWriter& json) {
          json.BeginObject()
              .Member("index", 0)
              .Member("delta", Raw{"{}"})
              .Member("logprobs", Raw{});
          json.Member("finish_reason", FinishReason(reply_)).EndObject();
        },
        usage_in_last_);
    if (exchange_.include_usage && !usage_in_last_) Chunk([](JsonWriter&) {}, true);
    if (!reply_.HasQuirk("no_done")) events_.Add("", "[DONE]");
    return events_.TakeEvents();
  }

 private:
  /// `choices` writes the elements of that array.
  template <class Choices>
  void Chunk(Choices choices, bool with_usage = false) {
    data_.clear();
    JsonWriter json(data_);
    json.BeginObject().Member("id", MakeId("chatcmpl-", exchange_.number));
    json.Member("object", "chat.completion.chunk").Member("created", kCreated);
    json.Member("model", exchange_.model).Member("service_tier", "default");
    json.Member("system_fingerprint", "fp_emulator").Key("choices").BeginArray();
    choices(json);
    json.EndArray();
    if (with_usage)
      WriteUsage(json);
    else if (exchange_.include_usage)
      json.Member("usage", Raw{});
    json.EndObject();
    events_.Add("", data_);
  }

  template <class Members>
  void Delta(Members members) {
    Chunk([&](JsonWriter& json) {
      json.BeginObject().Member("index", 0).Key("delta").BeginObject();
      members(json);
      json.EndObject().Member("logprobs", Raw{}).Member("finish_reason", Raw{}).EndObject();
    });
  }

  void WriteUsage(JsonWriter& json) const {
    const Usage& usage = exchange_.usage;
    json.Key("usage").BeginObject().Member("prompt_tokens", usage.prompt());
    json.Member("completion_tokens", usage.output);
    json.Member("total_tokens", usage.prompt() + usage.output);
    json.Key("prompt_tokens_details").BeginObject();
    json.Member("cached_tokens", usage.cache_read).Member("cache_write_tokens", usage.cache_write);
    json.Member("audio_tokens", 0).EndObject();
    json.Key("completion_tokens_details").BeginObject();
    json.Member("reasoning_tokens", usage.reasoning).Member("audio_tokens", 0);
    json.Member("accepted_prediction_tokens", 0).Member("rejected_prediction_tokens", 0);
    json.EndObject().EndObject();
  }

  void NullContent(JsonWriter& json) const {
    if (null_content_) json.Member("content", Raw{});
  }

  void Write(const TextBlock& block) {
    ForEachPart(block.text, reply_.delta, [&](std::string_view part) {
      Delta([&](JsonWriter& json) { json.Member("content", part); });
    });
  }

  void Write(const RefusalBlock& block) {
    ForEachPart(block.text, reply_.delta, [&](std::string_view part) {
      Delta([&](JsonWriter& json) { json.Member("refusal", part); });
    });
  }

  /// One element of reasoning_details; `members` writes what is particular to its type.
  template <class Members>
  void Detail(JsonWriter& json, std::string_view type, Members members) const {
    json.Key("reasoning_details").BeginArray().BeginObject().Member("type", type);
    members(json);
    json.Member("format", "anthropic-claude-v1").Member("index", 0).EndObject().EndArray();
  }

  void Write(const ThinkingBlock& block) {
    ForEachPart(block.text, reply_.delta, [&](std::string_view part) {
      Delta([&](JsonWriter& json) {
        NullContent(json);
        json.Member(reasoning_name_, part);
        if (!details_) return;
        Detail(json, "reasoning.text", [&](JsonWriter& one) { one.Member("text", part); });
      });
    });
    if (!details_ || block.signature.empty()) return;
    Delta([&](JsonWriter& json) {
      Detail(json, "reasoning.text",
             [&](JsonWriter& one) { one.Member("signature", block.signature); });
    });
  }

  void Write(const RedactedBlock& block) {
    if (!details_) return;
    Delta([&](JsonWriter& json) {
      Detail(json, "reasoning.encrypted", [&](JsonWriter& one) { one.Member("data", block.data); });
    });
  }

  void Write(const CallBlock& block) {
    const std::string id = block.id.empty() ? MakeId("call_", exchange_.number, calls_) : block.id;
    CallPart(block.name, id, whole_calls_ ? block.args : "");
    if (!whole_calls_) {
      ForEachPart(block.args, reply_.delta, [&](std::string_view part) { CallPart("", "", part); });
    }
    ++calls_;
  }

  /// The first part of a call has its name.
  void CallPart(std::string_view name, std::string_view id, std::string_view args) {
    Delta([&](JsonWriter& json) {
      NullContent(json);
      json.Key("tool_calls").BeginArray().BeginObject();
      if (!no_index_) json.Member("index", static_cast<std::int64_t>(calls_));
      if (!id.empty() && !no_id_) json.Member("id", id);
      if (!name.empty()) json.Member("type", "function");
      json.Key("function").BeginObject();
      if (!name.empty() || repeat_name_) json.Member("name", name);
      json.Key("arguments");
      const Result<Raw> value = Raw::From(args);
      if (args_object_ && value)
        json.Text(value->text);
      else
        json.String(args);
      json.EndObject().EndObject().EndArray();
    });
  }

  const Exchange& exchange_;
  const Reply& reply_;
  EventWriter events_;
  bool args_object_, whole_calls_, no_index_, no_id_, repeat_name_, null_content_, usage_in_last_;
  bool details_;
  std::string_view reasoning_name_;
  std::string data_;
  std::size_t calls_ = 0;
};

std::string CompletionsErrorType(int status) {
  if (status == 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

std::string ErrorCode(int status) {
  switch (status) {
    case 401: return "invalid_api_key";
    case 404: return "model_not_found";
    case 429: return "rate_limit_exceeded";
    default: return "";
  }
}

}  // namespace

Events CompletionsReply(const Exchange& exchange, const Reply& reply) {
  return CompletionsWriter(exchange, reply).Run();
}

std::string OpenAiError(const WireError& error) {
  const std::string code = error.code.empty() ? ErrorCode(error.status) : error.code;
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("error").BeginObject().Member("message", error.message);
  json.Member("type", error.type.empty() ? CompletionsErrorType(error.status) : error.type);
  json.Member("param", Raw{}).Key("code");
  if (code.empty())
    json.Text("null");
  else
    json.String(code);
  json.EndObject().EndObject();
  return out;
}

}  // namespace stet::emulator
