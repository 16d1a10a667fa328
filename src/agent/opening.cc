#include "agent/opening.h"

#include <algorithm>
#include <unordered_set>

#include "log/tree.h"

namespace stet::agent {
namespace {

using protocol::kTypeNumber;

/// Folds the events that say where the work stands, in file order.
class Fold {
 public:
  explicit Fold(const log::Log& log) : log_(log) {
    for (const log::OpenCall& call : log.open_calls()) open_.insert(call.tool_call_id);
  }

  Status Take(log::Ordinal event, Opening& opening) {
    if (!Counts(log_.index().entries()[event].type)) return {};
    ASSIGN_OR_RETURN(const protocol::Event found, log_.EventAt(event));
    if (const auto* snapshot = std::get_if<protocol::InstructionSnapshot>(&found.payload)) {
      if (!opening.snapshot) opening.snapshot = *snapshot;
    } else if (const auto* turn = std::get_if<protocol::Turn>(&found.payload)) {
      TakeTurn(*turn, found.stamp, opening);
    } else if (const auto* task = std::get_if<protocol::Task>(&found.payload)) {
      std::erase_if(opening.tasks,
                    [&](const protocol::Task& one) { return one.task_id == task->task_id; });
      if (task->phase == "start") {
        opening.tasks.push_back(*task);
        ++opening.tasks_so_far;
      }
    } else if (const auto* permission = std::get_if<protocol::Permission>(&found.payload)) {
      TakePermission(*permission, opening);
    } else {
      TakeCallFact(found, opening);
    }
    return {};
  }

 private:
  /// Facts of single calls count only while a call is open: then they stand at the end.
  [[nodiscard]] bool Counts(std::uint8_t type) const {
    if (type == kTypeNumber<protocol::InstructionSnapshot> || type == kTypeNumber<protocol::Turn> ||
        type == kTypeNumber<protocol::Task> || type == kTypeNumber<protocol::Permission>)
      return true;
    return !open_.empty() &&
           (type == kTypeNumber<protocol::ToolStarted> || type == kTypeNumber<protocol::FileFact> ||
            type == kTypeNumber<protocol::Question>);
  }

  static void TakeTurn(const protocol::Turn& turn, const protocol::Stamp& stamp, Opening& opening) {
    if (turn.phase == "start") {
      opening.open_turn = stamp.turn_id;
      opening.last_turn_at = stamp.ts;
    } else {
      opening.open_turn.reset();
      opening.last_end = turn.reason.value_or("");
    }
  }

  void TakePermission(const protocol::Permission& permission, Opening& opening) const {
    if (permission.phase == "answered" && permission.rule)
      opening.grants.push_back(policy::GrantFrom(*permission.rule));
    if (!open_.contains(permission.tool_call_id)) return;
    const auto earlier = std::ranges::find(opening.permissions, permission.request_id,
                                           &protocol::Permission::request_id);
    if (earlier == opening.permissions.end()) {
      opening.permissions.push_back(permission);
      return;
    }
    // What was asked stays known, whatever phase follows.
    const protocol::OptionalRaw options = earlier->options;
    *earlier = permission;
    if (!earlier->options) earlier->options = options;
  }

  void TakeCallFact(const protocol::Event& found, Opening& opening) const {
    if (const auto* started = std::get_if<protocol::ToolStarted>(&found.payload)) {
      if (open_.contains(started->tool_call_id)) opening.started.push_back(*started);
    } else if (const auto* fact = std::get_if<protocol::FileFact>(&found.payload)) {
      // What a command was found to have written says nothing about whether it came to its end.
      if (fact->op == "write" && fact->tool_call_id && open_.contains(*fact->tool_call_id))
        opening.writes.push_back(*fact);
    } else if (const auto* question = std::get_if<protocol::Question>(&found.payload)) {
      TakeQuestion(*question, opening);
    }
  }

  void TakeQuestion(const protocol::Question& question, Opening& opening) const {
    if (!open_.contains(question.question_id)) return;
    const auto earlier = std::ranges::find(opening.questions, question.question_id,
                                           &protocol::Question::question_id);
    if (earlier == opening.questions.end()) {
      opening.questions.push_back(question);
      return;
    }
    earlier->phase = question.phase;
    earlier->answer = question.answer;
  }

  const log::Log& log_;
  std::unordered_set<std::string> open_;
};

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

bool Opening::Waits(const std::string& tool_call_id) const {
  if (std::ranges::find(started, tool_call_id, &protocol::ToolStarted::tool_call_id) !=
      started.end())
    return false;
  const auto asks = [&](const auto& ask, const std::string& id) {
    return id == tool_call_id && ask.phase != "withdrawn";
  };
  return std::ranges::any_of(permissions,
                             [&](const auto& ask) { return asks(ask, ask.tool_call_id); }) ||
         std::ranges::any_of(questions,
                             [&](const auto& ask) { return asks(ask, ask.question_id); });
}

Result<Opening> ReadOpening(const log::Log& log) {
  Opening opening;
  Fold fold(log);
  const std::size_t count = log.index().entries().size();
  for (log::Ordinal event = 0; event < count; ++event) RETURN_IF_ERROR(fold.Take(event, opening));
  opening.unanswered = IsUnanswered(log);
  return opening;
}

Result<tool::KnownFiles> ReadKnownFiles(const log::Log& log) {
  tool::KnownFiles files;
  const std::vector<log::Entry>& entries = log.index().entries();
  std::vector<bool> on_path(entries.size(), false);
  for (const log::Ordinal event : log::PathTo(log.index(), log.index().leaf()))
    on_path[event] = true;
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    const log::Entry& entry = entries[event];
    if (entry.type != kTypeNumber<protocol::FileFact>) continue;
    if (entry.parent != log::kNone && !on_path[entry.parent]) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    if (const auto* fact = std::get_if<protocol::FileFact>(&found.payload)) files.Take(*fact);
  }
  return files;
}

}  // namespace stet::agent
