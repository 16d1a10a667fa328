// What is kept about the device's host: whether one runs, where it listens, and its token. The lock
// says whether it runs: it ends with the process, however that dies.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "config/roots.h"
#include "protocol/wire.h"

namespace stet::host {

/// Nothing when there was never one. kCorrupt says what to do.
Result<std::optional<protocol::HostState>> ReadHostState(const config::Roots& roots);
/// Atomically, for the user alone.
Status WriteHostState(const config::Roots& roots, const protocol::HostState& state);

/// The host that runs and listens, if there is one.
std::optional<protocol::HostState> RunningHost(const config::Roots& roots);

/// Where the unix socket is made: in the data folder, or, where that name is too long for a socket,
/// in a folder of the user's own under /tmp, which is made. kDenied when that folder
/// is not this user's alone.
Result<std::string> SocketPath(const config::Roots& roots);

}  // namespace stet::host
