#include "agent/resume.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/run/producers.h"
#include "log/tree.h"
#include "run/capsule/restore.h"

namespace stet::agent {
namespace {

/// What the files say of the writes that a call announced.
std::vector<protocol::Transaction> JudgeWrites(const std::string& tool_call_id,
                                               const Unfinished& unfinished) {
  protocol::RunTransactions announced;
  for (const protocol::FileFact& fact : unfinished.writes) {
    if (fact.tool_call_id != tool_call_id) continue;
    protocol::RunTransaction& one = announced.emplace_back();
    one.transaction_id = run::TransactionId(tool_call_id, fact.path);
    one.path = fact.path;
    one.status = run::tx::kWriting;
    one.before = fact.before;
    one.after = fact.after;
    one.tool_call_id = tool_call_id;
  }
  return run::Reconcile(announced, ReadForCapsule);
}

std::string WriteText(const protocol::Transaction& judged) {
  if (judged.status == run::tx::kWritten)
    return fmt::format("stet was stopped, but {} was written.", judged.path);
  if (judged.status == run::tx::kReverted)
    return fmt::format("stet was stopped before {} was written.", judged.path);
  return fmt::format(
      "stet was stopped while {} was being written, and it has changed since: read it "
      "before you go on.",
      judged.path);
}

std::string Judge(const std::string& tool_call_id, const Unfinished& unfinished,
                  const std::vector<protocol::Transaction>& writes) {
  const auto started =
      std::ranges::find(unfinished.started, tool_call_id, &protocol::ToolStarted::tool_call_id);
  if (started == unfinished.started.end())
    return "stet was stopped before this call began: it was not run.";
  if (!started->effects) return "stet was stopped during this call: it has no result.";
  if (!writes.empty()) return WriteText(writes.front());
  return "stet was stopped during this call: it may have run, wholly or in part. Look before you "
         "run it again.";
}

/// Withdraws what this call asked: it gets its result now, so no answer could count.
std::vector<protocol::Payload> Withdrawals(const std::string& tool_call_id,
                                           const Unfinished& unfinished) {
  std::vector<protocol::Payload> withdrawn;
  for (const protocol::Permission& asked : unfinished.permissions) {
    if (asked.tool_call_id != tool_call_id || asked.phase != protocol::phase::kAsked) continue;
    protocol::Permission event;
    event.request_id = asked.request_id;
    event.tool_call_id = asked.tool_call_id;
    event.args_hash = asked.args_hash;
    event.phase = protocol::phase::kWithdrawn;
    withdrawn.emplace_back(std::move(event));
  }
  for (const protocol::Question& asked : unfinished.questions) {
    if (asked.question_id != tool_call_id || asked.phase != protocol::phase::kAsked) continue;
    protocol::Question event;
    event.question_id = asked.question_id;
    event.phase = protocol::phase::kWithdrawn;
    withdrawn.emplace_back(std::move(event));
  }
  return withdrawn;
}

/// Questions on the path that stayed open and belong to no open call: the turn that asked them died
/// with its process.
Result<std::vector<std::string>> LostQuestions(const log::Log& log) {
  std::vector<std::string> open;
  for (const log::Ordinal event : log::ControlsOn(log.index(), log.index().leaf())) {
    if (log.index().entries()[event].type != protocol::kTypeNumber<protocol::Question>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    const auto* question = std::get_if<protocol::Question>(&found.payload);
    if (question == nullptr) continue;
    std::erase(open, question->question_id);
    if (question->phase == protocol::phase::kAsked) open.push_back(question->question_id);
  }
  std::erase_if(open, [&](const std::string& id) {
    return std::ranges::find(log.open_calls(), id, &log::OpenCall::tool_call_id) !=
           log.open_calls().end();
  });
  return open;
}

}  // namespace

Result<bool> SettleInterrupted(log::Log& log, const Unfinished& unfinished, bool keep_waiting) {
  bool waits = false;
  std::vector<log::Draft> batch;
  const auto add = [&](protocol::Payload payload) {
    log::Draft draft{.payload = std::move(payload), .id = "", .stamp = {}};
    draft.stamp.turn_id = unfinished.open_turn;
    batch.push_back(std::move(draft));
  };
  for (const log::OpenCall& call : log.open_calls()) {
    if (keep_waiting && unfinished.open_turn && unfinished.Waits(call.tool_call_id)) {
      waits = true;
      continue;
    }
    for (protocol::Payload& withdrawn : Withdrawals(call.tool_call_id, unfinished))
      add(std::move(withdrawn));
    const std::vector<protocol::Transaction> writes = JudgeWrites(call.tool_call_id, unfinished);
    for (const protocol::Transaction& judged : writes) add(judged);
    protocol::ToolResult result;
    result.tool_call_id = call.tool_call_id;
    result.is_error = true;
    protocol::TextBlock text;
    text.text = Judge(call.tool_call_id, unfinished, writes);
    protocol::Blocks content;
    content.emplace_back(std::move(text));
    result.content = Raw{Encode(content)};
    add(std::move(result));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> lost, LostQuestions(log));
  for (const std::string& id : lost) {
    protocol::Question withdrawn;
    withdrawn.question_id = id;
    withdrawn.phase = protocol::phase::kWithdrawn;
    add(std::move(withdrawn));
  }
  if (unfinished.open_turn && !waits) {
    protocol::Turn end;
    end.phase = protocol::phase::kEnd;
    end.reason = "interrupted";
    add(std::move(end));
  }
  if (!batch.empty()) RETURN_IF_ERROR(log.Append(std::move(batch)));
  return waits;
}

}  // namespace stet::agent
