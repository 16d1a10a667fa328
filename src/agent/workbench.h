// Workbench: what the turns of one session work with, and what they know of it. Owned by the
// session's lane; outlives its turns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/asks.h"
#include "agent/opening.h"
#include "agent/outbox.h"
#include "agent/redactor.h"
#include "agent/run_view.h"
#include "agent/sandboxing.h"
#include "agent/session_tools.h"
#include "base/loop.h"
#include "context/account.h"
#include "context/conversation.h"
#include "context/tokens.h"
#include "hook/extensions.h"
#include "hook/hooks.h"
#include "log/log.h"
#include "policy/policy.h"
#include "provider/provider.h"

namespace stet::agent {

/// 0: no limit.
struct Limits {
  std::int64_t max_steps = 0;   // Of one turn.
  std::int64_t max_price = 0;   // Of one turn, in micro-units.
  std::int64_t max_tokens = 0;  // Of one turn, of all kinds.
  std::int64_t max_ms = 0;      // Of one turn.
};

/// What the answer must fit, and the answer once there is one.
struct WantedOutput {
  Raw schema;
  std::optional<Raw> value;
};

/// How the conversation is kept within the model's window.
struct ContextRules {
  bool auto_compact = true;
  std::int64_t threshold_permille = 800;  // Of the window: from here on it is compacted.
  std::int64_t result_budget = 0;  // Tokens of one step's results; 0: a quarter of the window.
  bool session_memory = true;      // A summary is kept up by the auxiliary model, if there is one.
};

/// What the session's requests came to lately.
struct Growth {
  std::int64_t last = 0;      // Tokens of the last request.
  std::int64_t expected = 0;  // What a step may add.
  bool answered = true;       // A model answered since the last compaction.
  int summary_failures = 0;   // In a row.
};

struct Workbench {
  Loop& loop;
  log::Log& log;
  provider::Provider* model;
  SessionTools& tools;
  tool::Workspace& workspace;
  std::shared_ptr<tool::Editor> editor = nullptr;  // Of the client; null: none was offered.
  Asks& asks;
  policy::Rules rules;
  Redactor redactor = {};  // Of the vault's values, in what tools give.
  /// Keeps what was granted beyond this session. May be null.
  std::function<Status(const std::string& scope, const std::string& rule)> keep_grant;
  Limits limits;
  std::optional<std::string> effort;
  std::optional<WantedOutput> output;

  Outbox outbox = {};               // What the model must still be told.
  std::vector<std::string> system;  // The rendered snapshot.
  std::string cache_key;
  context::Conversation conversation;
  std::optional<tool::KnownFiles> files;  // Read from the log when first needed.

  ContextRules context = {};
  provider::Provider* auxiliary = nullptr;  // For summaries; null: the model itself.
  context::Account account = context::Account();
  context::Tokens tokens = {};
  std::int64_t fixed_bytes = 0;  // Of instructions and tools, in every request.
  Growth growth = {};
  std::function<std::string()> background = {};  // Says what runs there; empty: nothing.
  RunView run = {};
  SandboxRules sandbox = {};
  hook::Hooks* hooks = nullptr;            // Null: there are none.
  hook::Extensions* extensions = nullptr;  // Null: there are none.
  log::Ordinal transformed_to = 0;         // Extensions know the conversation up to here.
};

/// Appends one event. Fails as log::Log::Append does.
Status AppendEvent(log::Log& log, protocol::Payload payload, const protocol::Stamp& stamp,
                   const std::string& id = "");

}  // namespace stet::agent
