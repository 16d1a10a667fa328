// `stet -p`: one turn without a terminal. The answer goes to stdout, everything else to stderr.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/turns.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunPrint(const PrintCommand& command, client::Turns& turns, Terminal& terminal);

}  // namespace stet::cli
