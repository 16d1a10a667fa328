// SessionSettings: how a session is worked on, as one value that never changes. It is resolved when
// the session's lane is opened; a change of mode, a grant, another model or effort makes a new
// value that replaces the old one as a whole (CurrentSettings).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/current_settings.h"
#include "agent/sandboxing.h"
#include "policy/policy.h"
#include "provider/selection.h"

namespace stet::agent {

/// 0: no limit.
struct Limits {
  std::int64_t max_steps = 0;   // Of one turn.
  std::int64_t max_price = 0;   // Of one turn, in micro-units.
  std::int64_t max_tokens = 0;  // Of one turn, of all kinds.
  std::int64_t max_ms = 0;      // Of one turn.
};

/// How the conversation is kept within the model's window.
struct ContextRules {
  bool auto_compact = true;
  std::int64_t threshold_permille = 800;  // Of the window: from here on it is compacted.
  std::int64_t result_budget = 0;  // Tokens of one step's results; 0: a quarter of the window.
  bool session_memory = true;      // A summary is kept up by the auxiliary model, if there is one.
};

struct SessionSettings {
  provider::Selected model = {};
  std::optional<provider::Selected> auxiliary = {};  // For titles, memory and summaries.
  std::optional<std::string> effort = {};
  policy::Rules rules = {};
  SandboxRules sandbox = {};
  Limits limits = {};
  ContextRules context = {};
  bool task_end_starts_turn = true;
};

}  // namespace stet::agent
