// `stet sessions`: one function per verb, chosen by a table.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/sessions.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunSessions(const SessionsCommand& command, client::Sessions& sessions,
                        face::Console& console);

}  // namespace stet::cli
