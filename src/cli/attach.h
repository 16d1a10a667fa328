// `stet attach [SESSION]`: takes part in a session of the background host, as others may at the
// same time. One that another process works on is only watched.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/interactive.h"
#include "cli/terminal.h"
#include "client/remote_live.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunAttach(const AttachCommand& command, client::RemoteLive& host,
                      const InteractiveClients& clients, Terminal& terminal);

}  // namespace stet::cli
