// `stet vault`: secrets by name. A value is shown only to who asks for it in so many words.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunVault(const VaultCommand& command, client::Device& device, face::Console& console);

}  // namespace stet::cli
