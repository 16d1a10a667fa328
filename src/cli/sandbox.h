// `stet sandbox -- COMMAND`: runs anything as commands of models are run in a sandbox.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "face/console.h"

namespace stet::cli {

/// The command's exit code; 125 when it was not started. Hosts that it was refused are told on
/// standard error.
Result<int> RunSandbox(const SandboxCommand& command, client::Device& device,
                       face::Console& console);

}  // namespace stet::cli
