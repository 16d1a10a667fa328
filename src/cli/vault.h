// `stet vault`: secrets by name. A value is shown only to who asks for it in so many words.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/device.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunVault(const VaultCommand& command, client::Device& device, Terminal& terminal);

}  // namespace stet::cli
