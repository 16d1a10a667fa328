// OwnEvents: what of a log is this device's own. A log brings history, never rights: what another
// device wrote, or anybody who could write into the file, is shown and not acted upon.
//
// An answer that allows carries a MAC with the device's key over all that it allows, bound to its
// session; of everything else the place in the file counts.
#pragma once

#include <cstdint>
#include <string>

#include "log/session_state.h"
#include "protocol/work.h"

namespace stet::agent {

struct OwnEvents {
  std::string key;          // Of the device; empty: none, and no answer has a MAC.
  std::uint64_t since = 0;  // The first seq of this device's events; before it are another's.
};

/// What an answer of this device has as its `mac`; empty without a key.
std::string MacOf(const OwnEvents& own, const std::string& session_id,
                  const protocol::Permission& answer);

/// Whether this device wrote the answer, into this session, as it stands there.
bool IsOwn(const OwnEvents& own, const std::string& session_id, const log::Grant& answer);

}  // namespace stet::agent
