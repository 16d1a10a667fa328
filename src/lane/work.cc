#include "lane/work.h"

#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/items.h"
#include "agent/mentions.h"
#include "agent/resume.h"
#include "agent/run/producers.h"
#include "base/clock.h"
#include "lane/parts.h"

namespace stet::lane {

bool LaneWork::completed() const { return known_ && known_->last_end == agent::ended::kCompleted; }

bool LaneWork::unfinished() const { return !completed() && !(known_ && known_->last_end.empty()); }

// Opening.

Status LaneWork::Settle(agent::Unfinished unfinished, bool keep_waiting) {
  // What a command that was interrupted did to files is seen by the next look at them.
  for (const protocol::ToolStarted& started : unfinished.started) {
    if (!started.effects) continue;
    parts_.bench.checkpoints->Interrupted(started.tool_call_id);
  }
  ASSIGN_OR_RETURN(const bool waits,
                   agent::SettleInterrupted(parts_.bench.log, unfinished, keep_waiting));
  if (waits) life_ = LaneLife::kWaiting;
  // A client may continue what was left: it counts as interrupted.
  if (unfinished.unanswered || (unfinished.open_turn && !waits))
    unfinished.last_end = agent::ended::kInterrupted;
  known_ = std::move(unfinished);
  return {};
}

void LaneWork::GoOn() {
  if (life_ != LaneLife::kWaiting) {
    life_ = LaneLife::kIdle;
    return;
  }
  NewTurn(*known_->open_turn);
  parts_.bench.loop.Spawn(RunTurns("", true));
}

Status LaneWork::Recover() {
  if (known_) return {};
  ASSIGN_OR_RETURN(agent::Unfinished unfinished,
                   agent::ReadUnfinished(parts_.bench.log, parts_.bench.own));
  RETURN_IF_ERROR(Settle(std::move(unfinished), false));
  parts_.tasks->RecordEnds();
  return {};
}

// A turn begins: what it begins with is appended, flushed where its type says so, and then it runs.

void LaneWork::NewTurn(const std::string& turn_id) {
  cancel_ = CancelSource();
  turn_ = std::make_unique<agent::Turn>(parts_.bench, cancel_.token(), turn_id);
  began_ = SystemClock().Steady();
  rested_.emplace(parts_.bench.loop);
  if (life_ == LaneLife::kIdle) life_ = LaneLife::kWorking;
  if (parts_.bench.output) parts_.bench.output->value.reset();
}

void LaneWork::DropTurn() {
  turn_.reset();
  if (life_ != LaneLife::kClosing) life_ = LaneLife::kIdle;
}

Status LaneWork::Prepare(const Beginning& beginning) {
  NewTurn();
  Status begun = beginning(turn_->stamp());
  if (!begun) DropTurn();
  return begun;
}

Status LaneWork::BeginWith(const Beginning& beginning, std::string text) {
  RETURN_IF_ERROR(Prepare(beginning));
  parts_.bench.loop.Spawn(RunTurns(std::move(text), false));
  return {};
}

Status LaneWork::BeginWithMessage(protocol::UserMessage message, const std::string& client_id) {
  std::string text = protocol::PlainText(message.message.blocks);
  return BeginWith(
      [&](const protocol::Stamp&) { return AppendMessage(std::move(message), client_id); },
      std::move(text));
}

Result<bool> LaneWork::BeginWithFollowUp() {
  std::string text;
  ASSIGN_OR_RETURN(const bool taken, PrepareFollowUp(text));
  if (taken) parts_.bench.loop.Spawn(RunTurns(std::move(text), false));
  return taken;
}

void LaneWork::BeginCompaction(agent::CompactionWanted wanted) {
  NewTurn();
  parts_.bench.loop.Spawn(RunCompaction(std::move(wanted)));
}

/// The user message, and before it what the model must know by then.
Status LaneWork::AppendMessage(protocol::UserMessage message, const std::string& client_id) {
  log::Log& log = parts_.bench.log;
  protocol::Stamp stamp = turn_->stamp();
  RETURN_IF_ERROR(parts_.instructions->Ensure());
  const Millis now = SystemClock().Now();
  const Millis before = known_->last_turn_at;
  if (before != 0 && LocalDate(before) != LocalDate(now)) {
    agent::NewItem item{.kind = agent::item::kDateChange, .content = ""};
    item.content = fmt::format("It is {} now.", LocalDate(now));
    RETURN_IF_ERROR(agent::AppendItem(log, std::move(item), stamp));
  }
  RETURN_IF_ERROR(parts_.marks->TellOfPins(stamp));
  known_->last_turn_at = now;
  stamp.client_id = client_id;
  return agent::AppendEvent(log, std::move(message), stamp);
}

/// Makes the first follow-up the next turn's message, and gives its text.
Result<bool> LaneWork::PrepareFollowUp(std::string& text) {
  const log::SessionState& state = parts_.bench.log.index().state();
  if (state.follow_ups.empty()) return false;
  const protocol::QueueItem item = state.follow_ups.front();
  protocol::UserMessage message;
  message.queue_item_id = item.item_id;
  message.source = "follow_up";
  message.message.blocks = item.content;
  text = protocol::PlainText(item.content);
  RETURN_IF_ERROR(Prepare(
      [&](const protocol::Stamp&) { return AppendMessage(std::move(message), item.client_id); }));
  return true;
}

bool LaneWork::MayBegin() const {
  return !working() && !held_back_ && life_ != LaneLife::kClosing && completed() &&
         parts_.bench.settings->task_end_starts_turn;
}

/// Tells the model the ends of tasks that it was not told of. False: there are none.
Result<bool> LaneWork::PrepareOwed() {
  if (!MayBegin()) return false;
  RETURN_IF_ERROR(parts_.bench.outbox.Update(parts_.bench.log));
  if (!parts_.bench.outbox.owes_end()) return false;
  RETURN_IF_ERROR(
      Prepare([&](const protocol::Stamp& stamp) { return agent::PayOwed(parts_.bench, stamp); }));
  return true;
}

Result<bool> LaneWork::PrepareNext(std::string& text) {
  if (life_ == LaneLife::kClosing || !completed()) return false;
  ASSIGN_OR_RETURN(const bool taken, PrepareFollowUp(text));
  if (taken) return true;
  return PrepareOwed();
}

// Turns run, one after the other.

Async<void> LaneWork::RunTurns(std::string text, bool resumes) {
  bool runs = true;
  while (runs) {
    const Result<agent::TurnOutcome> end = co_await RunTurn(std::move(text), resumes);
    Status ended = EndTurn(end);
    if (const Status changed = parts_.changes.Apply(); ended && !changed) ended = changed;
    const Pending<bool> rested = *rested_;
    DropTurn();
    text.clear();
    resumes = false;
    // A failure to begin the next one leaves the lane idle: the next message meets it as well.
    runs = ended && PrepareNext(text).value_or(false);
    rested.Set(true);
  }
  if (life_ != LaneLife::kClosing && known_) parts_.side->KeepMemory();
}

/// One turn, whose message is in the log: what must stand before its first step, what hooks say of
/// the message, the files that it mentions, and the steps.
Async<Result<agent::TurnOutcome>> LaneWork::RunTurn(std::string text, bool resumes) {
  agent::Workbench& bench = parts_.bench;
  // What SessionStart hooks add is owed before the first step, which pays it.
  co_await parts_.hooks.AwaitStart();
  if (const auto prime = std::exchange(bench.prime, nullptr)) prime(bench);
  CO_RETURN_IF_ERROR(agent::KeepToolset(bench, turn_->stamp()));
  CO_RETURN_IF_ERROR(agent::VerifyRun(bench, turn_->stamp()));
  if (!text.empty()) {
    // Hooks may still refuse the message: then it is hidden from the model.
    const Result<std::optional<std::string>> refused =
        co_await agent::SubmitPrompt(bench, turn_->stamp(), text, cancel_.token());
    if (!refused) co_return std::unexpected(refused.error());
    if (*refused) co_return turn_->Refuse(**refused);
  }
  const Status attached =
      co_await agent::AppendMentions(bench, std::move(text), turn_->stamp(), cancel_.token());
  if (!attached) co_return std::unexpected(attached.error());
  if (resumes) co_return co_await turn_->Resume(*known_);
  co_return co_await turn_->Run();
}

/// Not a turn of the conversation: how the last turn ended stays as it is.
Async<void> LaneWork::RunCompaction(agent::CompactionWanted wanted) {
  TellEnd(co_await turn_->Compact(std::move(wanted)));
  parts_.marks->DoubtPins();
  // Ignoring the error on purpose: what was not applied waits, and the next append meets it as
  // well.
  (void)parts_.changes.Apply();
  const Pending<bool> rested = *rested_;
  DropTurn();
  // What was sent during the compaction is queued, and tasks that ended are told only now.
  std::string text;
  if (PrepareNext(text).value_or(false)) parts_.bench.loop.Spawn(RunTurns(std::move(text), false));
  rested.Set(true);
}

Status LaneWork::EndTurn(const Result<agent::TurnOutcome>& end) {
  TellEnd(end);
  if (end) {
    known_->last_end = end->reason;
    return {};
  }
  known_.reset();
  return std::unexpected(end.error());
}

void LaneWork::TellEnd(const Result<agent::TurnOutcome>& end) {
  agent::TurnOutcome failed;
  failed.reason = agent::ended::kError;
  if (!end) failed.error = end.error().Text();
  parts_.reports.Tell({.turn_id = turn_->id(), .began = began_, .how = end ? *end : failed});
}

void LaneWork::Cancel(const std::string& turn_id) {
  if (working() && (turn_id.empty() || turn_id == turn_->id())) cancel_.Cancel();
}

Async<void> LaneWork::End() {
  life_ = LaneLife::kClosing;
  Cancel();
  if (!working()) co_return;
  const Pending<bool> rested = *rested_;
  co_await rested;
}

void LaneWork::Moved() {
  parts_.bench.files.reset();
  parts_.bench.run.set_verified(false);
  parts_.marks->DoubtPins();
  if (known_) known_->last_end.clear();
}

}  // namespace stet::lane
