// Workbench: what the turns of one session work with, and what they know of it. Owned by the
// session's lane; outlives its turns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/asks.h"
#include "agent/opening.h"
#include "agent/run_view.h"
#include "base/loop.h"
#include "context/conversation.h"
#include "log/log.h"
#include "policy/policy.h"
#include "provider/provider.h"
#include "tool/registry.h"

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

struct Workbench {
  Loop& loop;
  log::Log& log;
  provider::Provider* model;
  tool::Registry& tools;
  tool::Workspace& workspace;
  Asks& asks;
  policy::Rules rules;
  Limits limits;
  std::optional<std::string> effort;
  std::optional<WantedOutput> output;

  std::vector<std::string> notices;  // To be told at the next step: what ended meanwhile.
  std::vector<std::string> system;   // The rendered snapshot.
  std::string cache_key;
  context::Conversation conversation;
  std::optional<tool::KnownFiles> files;  // Read from the log when first needed.
  RunView run;
};

/// Appends one event. Nothing but what the caller knows already happens when it fails.
Status AppendEvent(log::Log& log, protocol::Payload payload, const protocol::Stamp& stamp,
                   const std::string& id = "");

}  // namespace stet::agent
