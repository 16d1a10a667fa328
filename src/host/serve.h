// Serve: the device's host as a process: from taking the lock to the last session that is closed.
#pragma once

#include "base/result.h"
#include "config/roots.h"
#include "protocol/wire.h"

namespace stet::host {

/// Serves until SIGTERM, SIGINT or `host.stop`; one that a client started also ends when the last
/// client has left and no session works. Must run before any other thread is made: it watches
/// signals. kBusy, naming the host that runs, when there is one.
Status ServeHost(const config::Roots& roots, const protocol::HostLaunch& launch);

}  // namespace stet::host
