// How a lane runs its turns, one after the other, and what it says about them.
#include <algorithm>

#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/mentions.h"
#include "agent/run_producers.h"
#include "agent/session_memory.h"
#include "agent/title.h"
#include "base/diagnostics.h"
#include "host/lane.h"
#include "run/ledger.h"

namespace stet::host {
namespace {

constexpr std::size_t kReportsKept = 256;

}  // namespace

Async<Status> Lane::RunOne(std::string mentions, bool resume) {
  // What SessionStart hooks add is owed before the first step, which pays it.
  co_await AwaitStart();
  if (!std::exchange(primed_, true) && !setup_.fresh) setup_.prime(bench_);
  if (const Status kept = agent::KeepToolset(bench_, turn_->stamp()); !kept) {
    EndTurn(std::unexpected(kept.error()));
    co_return kept;
  }
  if (!std::exchange(verified_, true)) {
    if (const Status verified = agent::RestoreAfterCompact(bench_, turn_->stamp()); !verified) {
      EndTurn(std::unexpected(verified.error()));
      co_return verified;
    }
  }
  Result<std::optional<std::string>> refused = std::nullopt;
  // The message is in the log. Hooks may still refuse it: then it is hidden from the model.
  if (!mentions.empty())
    refused = co_await agent::SubmitPrompt(bench_, turn_->stamp(), mentions, cancel_.token());
  if (!refused || *refused) {
    const Result<agent::TurnEnd> end =
        refused ? turn_->Refuse(**refused) : std::unexpected(refused.error());
    EndTurn(end);
    co_return end ? Status() : Status(std::unexpected(end.error()));
  }
  Status attached =
      co_await agent::AppendMentions(bench_, std::move(mentions), turn_->stamp(), cancel_.token());
  if (!attached) {
    EndTurn(std::unexpected(attached.error()));
    co_return attached;
  }
  Result<agent::TurnEnd> end = Fail(Code::kIo, "");
  if (resume)
    end = co_await turn_->Resume(opening_);
  else
    end = co_await turn_->Run();
  EndTurn(end);
  co_return end ? Status() : Status(std::unexpected(end.error()));
}

Async<void> Lane::Work(std::string mentions, bool resume) {
  while (true) {
    Status ran = co_await RunOne(std::move(mentions), resume);
    if (const Status changed = ApplyChanges(); ran && !changed) ran = changed;
    waits_ = false;
    resume = false;
    const Pending<bool> rested = *rested_;
    turn_.reset();
    mentions.clear();
    const bool goes_on = ran && !closing_ && opening_.last_end == agent::ended::kCompleted;
    Result<bool> next = goes_on ? TakeFollowUp(mentions) : Result<bool>(false);
    // No follow-up: tasks that ended since the last request begin a turn.
    if (goes_on && next && !*next) next = BeginWithOwed();
    rested.Set(true);
    if (!next || !*next) break;
  }
  turn_.reset();
  if (!closing_ && !broken_) setup_.loop.Spawn(KeepMemory());
}

Async<void> Lane::KeepMemory() {
  if (remembering_ || working() || !bench_.settings->auxiliary ||
      !bench_.settings->context.session_memory)
    co_return;
  remembering_ = true;
  memory_done_.emplace(setup_.loop);
  const Pending<bool> done = *memory_done_;
  co_await agent::UpdateMemory(bench_, title_cancel_.token());
  remembering_ = false;
  done.Set(true);
}

/// Not a turn of the conversation: how the last turn ended stays as it is.
Async<void> Lane::WorkCompaction(std::string focus) {
  const Result<agent::TurnEnd> end = co_await turn_->Compact(std::move(focus));
  agent::TurnEnd broken;
  broken.reason = agent::ended::kError;
  if (!end) broken.error = end.error().Text();
  ShowEnd(end ? *end : broken);
  pins_unsure_ = true;
  const Pending<bool> rested = *rested_;
  turn_.reset();
  // Tasks that ended during the compaction are told only now.
  const Result<bool> begun = BeginWithOwed();
  if (begun && *begun) setup_.loop.Spawn(Work("", false));
  rested.Set(true);
}

void Lane::EndTurn(const Result<agent::TurnEnd>& end) {
  agent::TurnEnd broken;
  broken_ = !end;
  if (!end) {
    broken.reason = agent::ended::kError;
    broken.error = end.error().Text();
  }
  const agent::TurnEnd& how = end ? *end : broken;
  opening_.last_end = how.reason;
  ShowEnd(how);
}

/// Keeps the report before the end is published: a client that hears of the end asks for it.
void Lane::ShowEnd(const agent::TurnEnd& how) {
  reports_.push_back(ReportOf(how));
  if (reports_.size() > kReportsKept) reports_.pop_front();
  const protocol::TurnReport& report = reports_.back();
  STET_LOG_IN(
      setup_.log->paths().diagnostics(), kInfo,
      "turn ended turn={} reason={} steps={} ms={} model_ms={} input={} output={} error=\"{}\"",
      report.turn_id, report.reason, report.steps, report.duration_ms, report.model_ms,
      report.cost.input, report.cost.output, how.error);
  protocol::RuntimeEnd ended;
  ended.turn_id = turn_->id();
  ended.reason = how.reason;
  if (!how.error.empty()) ended.error = how.error;
  setup_.log->Publish(std::move(ended));
}

std::optional<protocol::TurnReport> Lane::Report(const std::string& turn_id) const {
  const auto found = std::ranges::find(reports_, turn_id, &protocol::TurnReport::turn_id);
  if (found == reports_.end()) return std::nullopt;
  return *found;
}

protocol::TurnReport Lane::ReportOf(const agent::TurnEnd& end) const {
  protocol::TurnReport report;
  report.session_id = setup_.log->header().session_id;
  report.turn_id = turn_->id();
  report.reason = end.reason;
  if (!end.error.empty()) report.error = end.error;
  if (end.failure) report.failure = std::string(provider::FailureName(*end.failure));
  report.text = end.text;
  if (bench_.output) report.output = bench_.output->value;
  report.stop_reason = end.stop_reason;
  report.steps = end.steps;
  report.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - turn_began_)
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
  const std::vector<log::Entry>& entries = setup_.log->index().entries();
  std::size_t first = entries.size();
  while (first > 0 && entries[first - 1].type != protocol::kTypeNumber<protocol::UserMessage>)
    --first;
  for (std::size_t event = first; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    const Result<protocol::Event> call = setup_.log->EventAt(static_cast<log::Ordinal>(event));
    if (call && call->stamp.turn_id == report.turn_id) ledger.Take(*call);
  }
  report.cost = ledger.Report("").total;
  return report;
}

Async<void> Lane::MakeTitle(std::string prompt) {
  if (!bench_.settings->auxiliary) co_return;
  title_done_.emplace(setup_.loop);
  const Pending<bool> done = *title_done_;
  co_await agent::AskForTitle(*setup_.log, *auxiliary_, std::move(prompt), title_cancel_.token());
  done.Set(true);
}

bool Lane::resting() const {
  const auto pending = [](const std::optional<Pending<bool>>& done) {
    return done && !done->is_set();
  };
  return !working() && tasks_->running() == 0 && !pending(title_done_) && !pending(memory_done_) &&
         !pending(started_);
}

Async<Status> Lane::Close(bool sleeps) {
  // From here on no turn follows. All that appends ends before the log is closed: side calls, the
  // turn, hooks, and last the tasks, whose ends are recorded.
  closing_ = true;
  Cancel();
  title_cancel_.Cancel();
  if (title_done_) co_await *title_done_;
  if (memory_done_) co_await *memory_done_;
  if (working()) {
    const Pending<bool> rested = *rested_;
    co_await rested;
  }
  co_await TellEnd(sleeps);
  tasks_->StopAll();
  RecordEnds();
  co_return setup_.log->Close();
}

}  // namespace stet::host
