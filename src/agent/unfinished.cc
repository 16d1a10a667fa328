#include "agent/unfinished.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "log/tree.h"

namespace stet::agent {
namespace {

using protocol::kTypeNumber;

/// Folds the events that say where the work stands, in file order. Reads few of them: what grows
/// with the session's age is in the index, or looked for from the end.
class Fold {
 public:
  Fold(const log::Log& log, const OwnEvents& own) : log_(log), own_(own) {
    for (const log::OpenCall& call : log.open_calls()) open_.insert(call.tool_call_id);
    const std::vector<log::Entry>& entries = log.index().entries();
    called_at_ = log.index().leaf();
    while (called_at_ != log::kNone &&
           entries[called_at_].type != kTypeNumber<protocol::AssistantMessage>)
      called_at_ = entries[called_at_].parent;
  }

  Status Read(log::Ordinal event, Unfinished& unfinished) {
    if (!Counts(event, unfinished)) return {};
    ASSIGN_OR_RETURN(const protocol::Event found, log_.EventAt(event));
    if (const auto* snapshot = std::get_if<protocol::InstructionSnapshot>(&found.payload)) {
      unfinished.snapshot = *snapshot;
    } else if (const auto* permission = std::get_if<protocol::Permission>(&found.payload)) {
      TakePermission(*permission, unfinished);
    } else {
      TakeCallFact(found, unfinished);
    }
    return {};
  }

 private:
  /// Of single calls only those count that are open; what is said of them stands behind the message
  /// that has them.
  [[nodiscard]] bool Counts(log::Ordinal event, const Unfinished& unfinished) const {
    const log::Entry& entry = log_.index().entries()[event];
    const std::uint8_t type = entry.type;
    if (type == kTypeNumber<protocol::FileFact> && entry.seq < own_.since) return false;
    // Instructions of another device are history: they are taken anew here.
    if (type == kTypeNumber<protocol::InstructionSnapshot>)
      return !unfinished.snapshot && entry.seq >= own_.since;
    return !open_.empty() && (called_at_ == log::kNone || event > called_at_) &&
           (type == kTypeNumber<protocol::ToolStarted> || type == kTypeNumber<protocol::FileFact> ||
            type == kTypeNumber<protocol::Permission> || type == kTypeNumber<protocol::Question>);
  }

  void TakePermission(const protocol::Permission& permission, Unfinished& unfinished) const {
    if (!open_.contains(permission.tool_call_id)) return;
    // An answer that nobody gave here: the question is still open.
    if (permission.phase == protocol::phase::kAnswered &&
        !IsOwn(own_, log_.header().session_id, log::GrantOf(permission)))
      return;
    const auto earlier = std::ranges::find(unfinished.permissions, permission.request_id,
                                           &protocol::Permission::request_id);
    if (earlier == unfinished.permissions.end()) {
      unfinished.permissions.push_back(permission);
      return;
    }
    // What was asked stays known, whatever phase follows.
    const protocol::OptionalRaw options = earlier->options;
    *earlier = permission;
    if (!earlier->options) earlier->options = options;
  }

  void TakeCallFact(const protocol::Event& found, Unfinished& unfinished) const {
    if (const auto* started = std::get_if<protocol::ToolStarted>(&found.payload)) {
      if (open_.contains(started->tool_call_id)) unfinished.started.push_back(*started);
    } else if (const auto* fact = std::get_if<protocol::FileFact>(&found.payload)) {
      // What a command was found to have written says nothing about whether it came to its end.
      if (fact->op == "write" && fact->tool_call_id && open_.contains(*fact->tool_call_id))
        unfinished.writes.push_back(*fact);
    } else if (const auto* question = std::get_if<protocol::Question>(&found.payload)) {
      TakeQuestion(*question, unfinished);
    }
  }

  void TakeQuestion(const protocol::Question& question, Unfinished& unfinished) const {
    if (!open_.contains(question.question_id)) return;
    const auto earlier = std::ranges::find(unfinished.questions, question.question_id,
                                           &protocol::Question::question_id);
    if (earlier == unfinished.questions.end()) {
      unfinished.questions.push_back(question);
      return;
    }
    earlier->phase = question.phase;
    earlier->answer = question.answer;
  }

  const log::Log& log_;
  const OwnEvents& own_;
  std::unordered_set<std::string> open_;
  log::Ordinal called_at_ = log::kNone;  // The message of the calls that are open.
};

/// The last turn that started and the last that ended, from the end on.
Status ReadLastTurns(const log::Log& log, Unfinished& unfinished) {
  const std::vector<log::Entry>& entries = log.index().entries();
  bool started = false;
  bool ended = false;
  for (auto event = static_cast<log::Ordinal>(entries.size()); event > 0 && !(started && ended);
       --event) {
    if (entries[event - 1].type != kTypeNumber<protocol::Turn>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event - 1));
    const auto* turn = std::get_if<protocol::Turn>(&found.payload);
    if (turn == nullptr) continue;
    if (turn->phase != protocol::phase::kStart) {
      if (!std::exchange(ended, true)) unfinished.last_end = turn->reason.value_or("");
    } else if (!std::exchange(started, true)) {
      unfinished.last_turn_at = found.stamp.ts;
      if (!ended) unfinished.open_turn = found.stamp.turn_id;
    }
  }
  return {};
}

/// Whether the log was left between a message of the user, on the path, and the start of its turn.
bool IsUnanswered(const log::Log& log) {
  const std::vector<log::Entry>& entries = log.index().entries();
  auto event = static_cast<log::Ordinal>(entries.size());
  while (event > 0 && entries[event - 1].type != kTypeNumber<protocol::UserMessage>) {
    if (entries[event - 1].type == kTypeNumber<protocol::Turn>) return false;
    --event;
  }
  if (event == 0) return false;
  const std::vector<log::Ordinal> path = log::PathTo(log.index(), log.index().leaf());
  return std::ranges::find(path, event - 1) != path.end();
}

}  // namespace

bool Unfinished::Waits(const std::string& tool_call_id) const {
  if (std::ranges::find(started, tool_call_id, &protocol::ToolStarted::tool_call_id) !=
      started.end())
    return false;
  const auto asks = [&](const auto& ask, const std::string& id) {
    return id == tool_call_id && ask.phase != protocol::phase::kWithdrawn;
  };
  return std::ranges::any_of(permissions,
                             [&](const auto& ask) { return asks(ask, ask.tool_call_id); }) ||
         std::ranges::any_of(questions,
                             [&](const auto& ask) { return asks(ask, ask.question_id); });
}

Result<Unfinished> ReadUnfinished(const log::Log& log, const OwnEvents& own) {
  Unfinished unfinished;
  for (const log::Grant& grant : log.index().state().grants) {
    if (IsOwn(own, log.header().session_id, grant))
      unfinished.grants.push_back(policy::GrantFrom(grant.rule));
  }
  RETURN_IF_ERROR(ReadLastTurns(log, unfinished));
  Fold fold(log, own);
  const std::size_t count = log.index().entries().size();
  for (log::Ordinal event = 0; event < count; ++event)
    RETURN_IF_ERROR(fold.Read(event, unfinished));
  unfinished.unanswered = IsUnanswered(log);
  ASSIGN_OR_RETURN(unfinished.toolset, log::FindLastToolset(log));
  return unfinished;
}

Result<tool::KnownFiles> ReadKnownFiles(const log::Log& log, const OwnEvents& own) {
  tool::KnownFiles files;
  const std::vector<log::Entry>& entries = log.index().entries();
  std::vector<bool> on_path(entries.size(), false);
  for (const log::Ordinal event : log::PathTo(log.index(), log.index().leaf()))
    on_path[event] = true;
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    const log::Entry& entry = entries[event];
    if (entry.type != kTypeNumber<protocol::FileFact> || entry.seq < own.since) continue;
    if (entry.parent != log::kNone && !on_path[entry.parent]) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    if (const auto* fact = std::get_if<protocol::FileFact>(&found.payload)) files.Learn(*fact);
  }
  return files;
}

}  // namespace stet::agent
