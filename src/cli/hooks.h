// `stet hooks`: what is configured to run when something happens, and where it is from.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunHooks(const HooksCommand& command, client::Device& device, face::Console& console);

}  // namespace stet::cli
