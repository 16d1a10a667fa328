// Workbench: what the turns of one session work with, and what they know of it. Owned by the
// session's lane; outlives its turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/current_settings.h"
#include "agent/kept_rules.h"
#include "agent/outbox.h"
#include "agent/own_events.h"
#include "agent/redactor.h"
#include "agent/run/view.h"
#include "context/account.h"
#include "context/conversation.h"
#include "context/tokens.h"
#include "log/log.h"
#include "tool/checkpoint/checkpoints.h"
#include "tool/known_files.h"

namespace stet {
class Loop;
}

namespace stet::hook {
class Extensions;
class Hooks;
}  // namespace stet::hook

namespace stet::provider {
class Provider;
}

namespace stet::tool {
class Editor;
struct Workspace;
}  // namespace stet::tool

namespace stet::agent {

class Asks;
class SessionTools;

/// What the answer must fit, and the answer once there is one.
struct WantedOutput {
  Raw schema;
  std::optional<Raw> value;
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
  CurrentSettings settings;
  OwnEvents own = {};      // What of the log is this device's.
  Redactor redactor = {};  // Of the vault's values, in what tools and files give.
  KeptRules kept_rules = {};
  std::optional<WantedOutput> output;

  Outbox outbox = {};               // What the model must still be told.
  std::vector<std::string> system;  // The rendered snapshot.
  std::string cache_key;
  context::Conversation conversation;
  std::optional<tool::KnownFiles> files;  // Read from the log when first needed.
  /// Not null.
  std::shared_ptr<tool::Checkpoints> checkpoints =
      std::make_shared<tool::Checkpoints>(tool::Checkpoints::Setup());

  provider::Provider* auxiliary = nullptr;  // For summaries; null: the model itself.
  context::Account account = context::Account();
  context::Tokens tokens = {};
  std::int64_t fixed_bytes = 0;  // Of instructions and tools, in every request.
  Growth growth = {};
  std::function<std::string()> background = {};  // Says what runs there; empty: nothing.
  RunView run = {};
  /// Makes the last request again, so that the next one can be compared with it: called once,
  /// before the first turn. Null: that was done, or nothing was ever sent.
  std::function<void(Workbench&)> prime = {};
  hook::Hooks* hooks = nullptr;            // Null: there are none.
  hook::Extensions* extensions = nullptr;  // Null: there are none.
  log::Ordinal transformed_to = 0;         // Extensions know the conversation up to here.
};

/// Appends one event. Fails as log::Log::Append does.
Status AppendEvent(log::Log& log, protocol::Payload payload, const protocol::Stamp& stamp,
                   const std::string& id = "");

}  // namespace stet::agent
