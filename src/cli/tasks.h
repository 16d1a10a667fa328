// `stet tasks`: what runs in the background of a session.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/sessions.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunTasks(const TasksCommand& command, client::Sessions& sessions, Terminal& terminal);

/// A table with a line for each.
std::string TasksText(const protocol::TaskRows& rows, std::size_t columns, Millis now);

}  // namespace stet::cli
