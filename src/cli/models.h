// `stet models`: what can be named, and whether it answers.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/models.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunModels(const ModelsCommand& command, client::Models& models, face::Console& console);

}  // namespace stet::cli
