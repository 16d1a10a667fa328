// `stet tasks`: what runs in the background of a session.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/sessions.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunTasks(const TasksCommand& command, client::Sessions& sessions,
                     face::Console& console);

}  // namespace stet::cli
