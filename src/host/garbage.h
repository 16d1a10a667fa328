// Garbage: what may be deleted for good, found only when the user asks and deleted only when the
// user says so: blobs that no event names, temporary files that a crash left, and removed sessions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "host/session_store.h"
#include "protocol/session.h"

namespace stet::host {

Result<std::vector<protocol::GarbageItem>> FindGarbage(const SessionStore& store, bool with_trash);

/// Looks at every item again before it deletes it, under the session's lock; sessions that are
/// being written are left. Gives the bytes freed.
Result<std::uint64_t> Collect(const SessionStore& store,
                              const std::vector<protocol::GarbageItem>& items);

}  // namespace stet::host
