// `stet -p`: one turn without a terminal. The answer goes to stdout, everything else to stderr.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/live.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunPrint(const WorkCommand& command, client::Live& live, Terminal& terminal);

}  // namespace stet::cli
