// `stet sessions`: one function per verb, chosen by a table.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/sessions.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunSessions(const SessionsCommand& command, client::Sessions& sessions,
                        Terminal& terminal);

}  // namespace stet::cli
