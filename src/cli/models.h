// `stet models`: what can be named, and whether it answers.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/models.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunModels(const ModelsCommand& command, client::Models& models, Terminal& terminal);

}  // namespace stet::cli
