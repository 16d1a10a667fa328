// The Google Generative AI wire.
#include <fmt/format.h>

#include "emulator/reply_wire/reply_wire.h"
#include "json/json.h"
#include "json/view.h"
#include "json/writer.h"

namespace stet::emulator {
namespace {

std::string FinishReason(const std::string& stop) {
  if (stop == "end" || stop == "tool_use" || stop == "stop_sequence" || stop == "paused") {
    return "STOP";
  }
  if (stop == "max_tokens" || stop == "overflow") return "MAX_TOKENS";
  if (stop == "refused") return "SAFETY";
  return stop;
}

std::string StatusName(int status) {
  switch (status) {
    case 400: return "INVALID_ARGUMENT";
    case 401: return "UNAUTHENTICATED";
    case 403: return "PERMISSION_DENIED";
    case 404: return "NOT_FOUND";
    case 409: return "ABORTED";
    case 429: return "RESOURCE_EXHAUSTED";
    case 503: return "UNAVAILABLE";
    case 504: return "DEADLINE_EXCEEDED";
    default: return status >= 500 ? "INTERNAL" : "FAILED_PRECONDITION";
  }
}

class GoogleWriter {
 public:
  GoogleWriter(const Exchange& exchange, const Reply& reply)
      : exchange_(exchange),
        reply_(reply),
        events_(FramingOf(reply)),
        finish_(FinishReason(StopOf(reply))) {}

  Events Run() {
    for (const Block& block : reply_.blocks) {
      std::visit([&](const auto& one) { Write(one); }, block);
    }
    // A signature that no part followed has an empty one.
    if (!signature_.empty()) Part([&](JsonWriter& json) { Sign(json.Member("text", "")); });
    events_.EndOfContent();
    if (finish_ == "SAFETY" && reply_.blocks.empty())
      Blocked();
    else
      Finish();
    return events_.TakeEvents();
  }

 private:
  template <class Members>
  void Emit(Members members) {
    data_.clear();
    JsonWriter json(data_);
    json.BeginObject();
    members(json);
    WriteUsage(json);
    json.Member("modelVersion", exchange_.model);
    json.Member("responseId", MakeId("emulated", exchange_.number)).EndObject();
    events_.Add("", data_);
  }

  void WriteUsage(JsonWriter& json) const {
    const Usage& usage = exchange_.usage;
    json.Key("usageMetadata").BeginObject().Member("promptTokenCount", usage.prompt());
    json.Member("candidatesTokenCount", usage.output - usage.reasoning);
    json.Member("totalTokenCount", usage.prompt() + usage.output);
    if (usage.cache_read > 0) json.Member("cachedContentTokenCount", usage.cache_read);
    json.Key("promptTokensDetails").BeginArray().BeginObject().Member("modality", "TEXT");
    json.Member("tokenCount", usage.prompt()).EndObject().EndArray();
    if (usage.reasoning > 0) json.Member("thoughtsTokenCount", usage.reasoning);
    json.EndObject();
  }

  template <class Members>
  void Candidate(Members part, std::string_view finish) {
    Emit([&](JsonWriter& json) {
      json.Key("candidates").BeginArray().BeginObject().Key("content").BeginObject();
      json.Key("parts").BeginArray().BeginObject();
      part(json);
      json.EndObject().EndArray().Member("role", "model").EndObject();
      if (!finish.empty()) json.Member("finishReason", finish);
      json.Member("index", 0).EndObject().EndArray();
    });
  }

  template <class Members>
  void Part(Members part) {
    Candidate(part, "");
  }

  void Finish() {
    Candidate([](JsonWriter& json) { json.Member("text", ""); }, finish_);
  }

  void Blocked() {
    Emit([](JsonWriter& json) {
      json.Key("promptFeedback").BeginObject().Member("blockReason", "SAFETY").EndObject();
    });
  }

  /// Adds the signature of the thinking before, once.
  void Sign(JsonWriter& json) {
    if (signature_.empty()) return;
    json.Member("thoughtSignature", signature_);
    signature_.clear();
  }

  void Text(std::string_view text, bool thought) {
    ForEachPart(text, reply_.delta, [&](std::string_view part) {
      const bool last = part.data() + part.size() == text.data() + text.size();
      Part([&](JsonWriter& json) {
        json.Member("text", part);
        if (thought)
          json.Member("thought", true);
        else if (last)
          Sign(json);
      });
    });
  }

  void Write(const TextBlock& block) { Text(block.text, false); }
  void Write(const RefusalBlock& block) { Text(block.text, false); }
  void Write(const RedactedBlock&) {}

  void Write(const ThinkingBlock& block) {
    Text(block.text, true);
    signature_ = block.signature;
  }

  void Write(const CallBlock& block) {
    const Result<Raw> args = Raw::From(block.args);
    if (!args || !JsonView(args->text).is_object()) {
      finish_ = "MALFORMED_FUNCTION_CALL";
      return;
    }
    Part([&](JsonWriter& json) {
      json.Key("functionCall").BeginObject();
      if (!block.id.empty()) json.Member("id", block.id);
      json.Member("name", block.name).Member("args", *args).EndObject();
      Sign(json);
    });
  }

  const Exchange& exchange_;
  const Reply& reply_;
  EventWriter events_;
  std::string finish_;
  std::string signature_;
  std::string data_;
};

}  // namespace

Events GoogleReply(const Exchange& exchange, const Reply& reply) {
  return GoogleWriter(exchange, reply).Run();
}

std::string GoogleError(const WireError& error) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("error").BeginObject().Member("code", error.status);
  json.Member("message", error.message);
  json.Member("status", error.type.empty() ? StatusName(error.status) : error.type);
  if (error.retry_after) {
    json.Key("details").BeginArray().BeginObject();
    json.Member("@type", "type.googleapis.com/google.rpc.RetryInfo");
    json.Member("retryDelay", fmt::format("{}s", *error.retry_after)).EndObject().EndArray();
  }
  json.EndObject().EndObject();
  return out;
}

}  // namespace stet::emulator
