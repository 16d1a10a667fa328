// Unfinished: what a log says about the work that it was left in the middle of. A projection, read
// once when a session's lane opens; what happens afterwards the lane knows itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/own_events.h"
#include "log/last_toolset.h"
#include "log/log.h"
#include "policy/policy.h"
#include "tool/known_files.h"

namespace stet::agent {

struct Unfinished {
  std::optional<protocol::InstructionSnapshot> snapshot;
  std::optional<log::LastToolset> toolset;
  std::optional<std::string> open_turn;  // Its start has no end.
  bool unanswered = false;               // The user's last message has no turn at all.
  std::string last_end;                  // Why the last turn that ended did; empty: there is none.
  std::int64_t last_turn_at = 0;         // When the last turn started; 0: there is none.
  std::vector<policy::Rule> grants;      // Allowed by the user for the whole session.

  // Of the calls that have no result yet.
  std::vector<protocol::ToolStarted> started;
  std::vector<protocol::FileFact> writes;
  std::vector<protocol::Permission> permissions;  // The latest of each request.
  std::vector<protocol::Question> questions;      // A question's id is its call's.

  /// Whether this call has not begun: it waits for the user's answer, or has it and was not run
  /// yet.
  [[nodiscard]] bool Waits(const std::string& tool_call_id) const;
};

/// Of grants, answers and facts only those that are `own` count.
Result<Unfinished> ReadUnfinished(const log::Log& log, const OwnEvents& own = {});

/// What the model knows of files: the own facts whose call is on the path.
Result<tool::KnownFiles> ReadKnownFiles(const log::Log& log, const OwnEvents& own = {});

}  // namespace stet::agent
