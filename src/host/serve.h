// Serve: the device's host as a process: from taking the lock to the last session that is closed.
#pragma once

#include "base/result.h"
#include "config/roots.h"
#include "protocol/wire.h"

namespace stet::host {

/// Until SIGTERM, SIGINT, `host.stop`, or, started by a client, until nobody needs it. Must run
/// before any other thread is made: it watches signals. kBusy, naming it, when one runs.
Status ServeHost(const config::Roots& roots, const protocol::HostLaunch& launch);

}  // namespace stet::host
