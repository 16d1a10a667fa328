#include "cli/result_json.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "cli/exit_codes.h"

namespace stet::cli {
namespace {

std::string_view SubtypeOf(const protocol::TurnReport& report) {
  if (report.reason == "completed") return "success";
  if (report.reason == "max_turns") return "error_max_turns";
  if (report.reason == "budget") return "error_max_budget_usd";
  if (report.reason == "no_output") return "error_max_structured_output_retries";
  return "error_during_execution";
}

std::string Dollars(std::int64_t micro) {
  return fmt::format("{}.{:06}", micro / 1'000'000, micro % 1'000'000);
}

void WriteUsage(JsonWriter& writer, const protocol::TurnReport& report) {
  const protocol::CostSum& cost = report.cost;
  writer.Key("total_cost_usd").Text(Dollars(cost.price));
  writer.Key("usage").BeginObject();
  writer.Member("input_tokens", cost.input).Member("output_tokens", cost.output);
  writer.Member("cache_read_input_tokens", cost.cache_read);
  writer.Member("cache_creation_input_tokens", cost.cache_write).EndObject();
  writer.Key("modelUsage").BeginObject().Key(report.model).BeginObject();
  writer.Member("inputTokens", cost.input).Member("outputTokens", cost.output);
  writer.Member("cacheReadInputTokens", cost.cache_read);
  writer.Member("cacheCreationInputTokens", cost.cache_write);
  writer.Member("webSearchRequests", 0).Key("costUSD").Text(Dollars(cost.price));
  writer.Member("contextWindow", report.context_window).EndObject().EndObject();
}

}  // namespace

std::string ResultJson(const protocol::TurnReport& report) {
  std::string json;
  JsonWriter writer(json);
  const bool done = report.reason == "completed";
  writer.BeginObject().Member("type", "result").Member("subtype", SubtypeOf(report));
  writer.Member("is_error", !done);
  writer.Member("duration_ms", report.duration_ms).Member("duration_api_ms", report.model_ms);
  writer.Member("num_turns", report.steps).Member("result", report.text);
  if (report.stop_reason) writer.Member("stop_reason", *report.stop_reason);
  writer.Member("session_id", report.session_id);
  WriteUsage(writer, report);
  writer.Key("permission_denials").BeginArray();
  for (const protocol::DenialRow& denial : report.denials) {
    writer.BeginObject().Member("tool_name", denial.tool_name);
    writer.Member("tool_use_id", denial.tool_call_id).Member("tool_input", denial.args).EndObject();
  }
  writer.EndArray();
  if (report.output) writer.Member("structured_output", *report.output);
  writer.Member("model", report.model).Member("terminal_reason", report.reason);
  if (report.error) {
    writer.Member("error", *report.error);
    writer.Key("errors").BeginArray().String(*report.error).EndArray();
  }
  writer.Member("uuid", report.turn_id).EndObject();
  return json;
}

int ExitCodeOf(const protocol::TurnReport& report) {
  if (report.reason == "completed") return kExitDone;
  if (report.reason == "cancelled") return kExitInterrupted;
  if (report.reason == "timeout") return kExitTimeout;
  if (report.reason == "max_turns" || report.reason == "budget") return kExitLimit;
  if (report.reason == "stopped") return kExitRefused;
  return report.failure == "auth" ? kExitAuth : kExitFailed;
}

}  // namespace stet::cli
