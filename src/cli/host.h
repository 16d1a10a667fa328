// `stet host VERB`: the process in the background that sessions are worked on in.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/host_control.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed. `serve` must run before any other thread is made.
Result<int> RunHost(const HostCommand& command, client::HostControl& host, face::Console& console);

}  // namespace stet::cli
