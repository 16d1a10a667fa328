// Garbage: what may be deleted for good, found only when the user asks and deleted only when the
// user says so: blobs that no event names, temporary files that a crash left, folders in which no
// session came to be, copies of files that no session needs, and removed sessions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "protocol/session.h"
#include "store/session_store.h"

namespace stet::store {

/// In roots and their children. A tree of which a process writes a session is passed over: one item
/// of the kind `held` names the session and the process.
Result<std::vector<protocol::GarbageItem>> FindGarbage(const SessionStore& store, bool with_trash);

/// Looks at every item again before it deletes it, under the locks of all trees that have one.
/// kBusy names a session of these that a process writes by now: then nothing is deleted. Gives the
/// bytes freed.
Result<std::uint64_t> Collect(const SessionStore& store,
                              const std::vector<protocol::GarbageItem>& items);

}  // namespace stet::store
