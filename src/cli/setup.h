// `stet setup`: chooses the model that is used when no other is asked for, and tries it.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "client/models.h"
#include "face/console.h"

namespace stet::cli {

/// Asks on stderr and reads lines from stdin, which may be piped; flags answer beforehand. Nothing
/// is replaced unasked. The exit code, or why it failed.
Result<int> RunSetup(const SetupCommand& command, client::Models& models, client::Device& device,
                     face::Console& console);

}  // namespace stet::cli
