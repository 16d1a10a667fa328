// SessionState: what the whole session comes to, folded from its events in file order, whatever the
// leaf is. A projection: always rebuildable, kept in the index's checkpoint so that opening does
// not fold again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/event.h"

namespace stet::log {

/// Raised whenever the fold below changes: older checkpoints are then folded again.
inline constexpr std::int64_t kStateVersion = 4;

/// How much of the first and of the last prompt is kept, to name a session and to find it by.
inline constexpr std::size_t kPromptBytes = 200;

/// An answer that allowed something for longer than once, as far as it must be proved genuine.
struct Grant {
  STET_FIELDS(Grant,
              (protocol::Text, request_id),
              (protocol::Text, tool_call_id),
              (protocol::Text, args_hash),
              (protocol::Text, answer),
              (protocol::Text, edited),  // SHA-256 of the arguments as they were edited.
              (protocol::Text, rule),
              (protocol::Text, scope),
              (protocol::Text, mac))
};
using Grants = std::vector<Grant>;

Grant GrantOf(const protocol::Permission& answer);

struct SessionState {
  STET_FIELDS(SessionState,
              (std::int64_t, epoch),
              (std::string, version),  // Of the program that opened it last.
              (protocol::InfoChanges, info),
              (std::string, first_prompt),
              (std::string, last_prompt),
              (Grants, grants),  // Rules allowed for the whole session, by whomever.
              (std::int64_t, updated_at),
              (std::int64_t, user_messages),
              (std::int64_t, assistant_messages),
              (std::int64_t, tool_results),
              (protocol::QueueItems, follow_ups),
              (protocol::QueueItems, steers),
              (protocol::OptionalHeader, rebuilt_header),  // From a gap event: line 1 is lost.
              (std::string, needs_newer))  // The first critical type that is not known to us.

  void Apply(const protocol::Opened& opened);
  void Apply(const protocol::SessionInfo& changes);
  void Apply(const protocol::QueueUpdate& update);
  void Apply(const protocol::UserMessage& message);
  void Apply(const protocol::Permission& permission);
  /// The item has become an event: it waits no more, whatever the last queue_update says.
  void Consume(std::string_view queue_item_id);
};

}  // namespace stet::log
