// Stored sessions of a host in another process, over its socket.
//
// What the wire has is asked of the host and answered as calls of a RemoteLive are. What needs the
// files themselves (events, exports, repairs, the trash, what is garbage) is kUnsupported: it is
// done where the files are.
#pragma once

#include <chrono>
#include <memory>

#include "client/remote/live.h"
#include "client/sessions.h"

namespace stet::client {

/// `host` outlives it. Every call ends within this time.
std::unique_ptr<Sessions> MakeRemoteSessions(
    RemoteLive& host, std::chrono::milliseconds within = std::chrono::seconds(30));

}  // namespace stet::client
