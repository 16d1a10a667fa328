#include "lane/turn_reports.h"

#include <algorithm>

#include "agent/turn.h"
#include "agent/workbench.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "provider/provider.h"
#include "run/ledger.h"

namespace stet::lane {

void TurnReports::Tell(const Ended& ended) {
  reports_.push_back(ReportOf(ended));
  if (reports_.size() > kMostKept) reports_.pop_front();
  const protocol::TurnReport& report = reports_.back();
  STET_LOG_IN(
      bench_.log.paths().diagnostics(), kInfo,
      "turn ended turn={} reason={} steps={} ms={} model_ms={} input={} output={} error=\"{}\"",
      report.turn_id, report.reason, report.steps, report.duration_ms, report.model_ms,
      report.cost.input, report.cost.output, ended.how.error);
  protocol::RuntimeEnd end;
  end.turn_id = ended.turn_id;
  end.reason = ended.how.reason;
  if (!ended.how.error.empty()) end.error = ended.how.error;
  bench_.log.Publish(std::move(end));
}

std::optional<protocol::TurnReport> TurnReports::Find(const std::string& turn_id) const {
  const auto found = std::ranges::find(reports_, turn_id, &protocol::TurnReport::turn_id);
  if (found == reports_.end()) return std::nullopt;
  return *found;
}

protocol::TurnReport TurnReports::ReportOf(const Ended& ended) const {
  const agent::TurnOutcome& end = ended.how;
  protocol::TurnReport report;
  report.session_id = bench_.log.header().session_id;
  report.turn_id = ended.turn_id;
  report.reason = end.reason;
  if (!end.error.empty()) report.error = end.error;
  if (end.failure) report.failure = std::string(provider::FailureName(*end.failure));
  report.text = end.text;
  if (bench_.output) report.output = bench_.output->value;
  report.stop_reason = end.stop_reason;
  report.steps = end.steps;
  report.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - ended.began)
          .count();
  report.model_ms = end.model_time.count();
  report.model = bench_.model->model().FullName();
  report.context_window = bench_.model->model().context_window;
  report.max_output = bench_.model->model().max_output;
  for (const agent::Denial& denial : end.denials) {
    protocol::DenialRow& row = report.denials.emplace_back();
    row.tool_name = denial.tool;
    row.tool_call_id = denial.tool_call_id;
    row.args = denial.args;
    row.rule = denial.rule;
  }
  // Of this turn alone; its calls stand at the end of the log.
  run::Ledger ledger;
  const std::vector<log::Entry>& entries = bench_.log.index().entries();
  std::size_t first = entries.size();
  while (first > 0 && entries[first - 1].type != protocol::kTypeNumber<protocol::UserMessage>)
    --first;
  for (std::size_t event = first; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    const Result<protocol::Event> call = bench_.log.EventAt(static_cast<log::Ordinal>(event));
    if (call && call->stamp.turn_id == report.turn_id) ledger.Fold(*call);
  }
  report.cost = ledger.Report("").total;
  return report;
}

}  // namespace stet::lane
