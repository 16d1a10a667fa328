#include "face/result_json.h"

#include <fmt/format.h>

#include "face/exit_codes.h"
#include "face/run_text.h"
#include "face/sdk_names.h"
#include "json/writer.h"

namespace stet::face {
namespace {

std::string_view SubtypeOf(const protocol::TurnReport& report) {
  if (report.reason == "completed") return "success";
  if (report.reason == "max_turns") return "error_max_turns";
  if (report.reason == "budget") return "error_max_budget_usd";
  if (report.reason == "no_output") return "error_max_structured_output_retries";
  return "error_during_execution";
}

/// Why it ended, as other agents' SDKs spell it, where they have a word for it.
std::string_view TerminalReason(const protocol::TurnReport& report) {
  if (report.reason == "budget") return "budget_exhausted";
  if (report.reason == "no_output") return "structured_output_retry_exhausted";
  if (report.reason == "overflow") return "prompt_too_long";
  if (report.reason == "cancelled") return "aborted_streaming";
  if (report.reason == "error") return report.failure ? "api_error" : "model_error";
  return report.reason;
}

std::string Dollars(std::int64_t micro) {
  return fmt::format("{}.{:06}", micro / 1'000'000, micro % 1'000'000);
}

void WriteCosts(JsonWriter& writer, const protocol::CostSum& cost, const Spent& spent) {
  std::int64_t total = 0;
  for (const auto& [model, sum] : spent) total += sum.cost.price;
  writer.Key("total_cost_usd").Text(Dollars(total));
  writer.Key("usage").BeginObject();
  writer.Member("input_tokens", cost.input).Member("output_tokens", cost.output);
  writer.Member("cache_read_input_tokens", cost.cache_read);
  writer.Member("cache_creation_input_tokens", cost.cache_write).EndObject();
  writer.Key("modelUsage").BeginObject();
  for (const auto& [model, sum] : spent) {
    writer.Key(model).BeginObject();
    writer.Member("inputTokens", sum.cost.input).Member("outputTokens", sum.cost.output);
    writer.Member("cacheReadInputTokens", sum.cost.cache_read);
    writer.Member("cacheCreationInputTokens", sum.cost.cache_write);
    writer.Member("webSearchRequests", 0).Key("costUSD").Text(Dollars(sum.cost.price));
    writer.Member("contextWindow", sum.context_window);
    writer.Member("maxOutputTokens", sum.max_output).EndObject();
  }
  writer.EndObject();
}

void WriteDenials(JsonWriter& writer, const protocol::DenialRows& denials) {
  writer.Key("permission_denials").BeginArray();
  for (const protocol::DenialRow& denial : denials) {
    writer.BeginObject().Member("tool_name", denial.tool_name);
    writer.Member("tool_use_id", denial.tool_call_id).Member("tool_input", denial.args).EndObject();
  }
  writer.EndArray();
}

}  // namespace

void AddTo(Spent& spent, const protocol::TurnReport& report) {
  if (report.model.empty()) return;
  ModelSpent& sum = spent[report.model];
  sum.cost.input += report.cost.input;
  sum.cost.output += report.cost.output;
  sum.cost.cache_read += report.cost.cache_read;
  sum.cost.cache_write += report.cost.cache_write;
  sum.cost.price += report.cost.price;
  sum.context_window = report.context_window;
  sum.max_output = report.max_output;
}

std::string ResultJson(const protocol::TurnReport& report, const Spent& spent,
                       const ResultMore& more) {
  std::string json;
  JsonWriter writer(json);
  const bool done = report.reason == "completed";
  writer.BeginObject().Member("type", "result").Member("subtype", SubtypeOf(report));
  writer.Member("is_error", !done);
  writer.Member("duration_ms", report.duration_ms).Member("duration_api_ms", report.model_ms);
  writer.Member("num_turns", report.steps).Member("result", report.text).Key("stop_reason");
  if (report.stop_reason)
    writer.String(StopReasonName(*report.stop_reason));
  else
    writer.Text("null");
  writer.Member("session_id", report.session_id);
  WriteCosts(writer, report.cost, spent);
  WriteDenials(writer, report.denials);
  if (report.output) writer.Member("structured_output", *report.output);
  if (more.queued) writer.Member("queued_turn_count", *more.queued);
  if (more.run && HasNews(*more.run)) WriteRun(writer, *more.run);
  writer.Member("model", report.model).Member("terminal_reason", TerminalReason(report));
  if (!done) {
    writer.Key("errors").BeginArray().String(report.error.value_or(report.reason)).EndArray();
  }
  writer.Member("turn_id", report.turn_id).Member("uuid", UuidFrom(report.turn_id)).EndObject();
  return json;
}

int ExitCodeOf(const protocol::TurnReport& report) {
  if (report.reason == "completed") return kExitDone;
  if (report.reason == "cancelled") return kExitInterrupted;
  if (report.reason == "timeout") return kExitTimeout;
  if (report.reason == "max_turns" || report.reason == "budget") return kExitLimit;
  if (report.reason == "stopped" || report.reason == "blocked" || report.reason == "denied")
    return kExitRefused;
  return report.failure == "auth" ? kExitAuth : kExitFailed;
}

}  // namespace stet::face
