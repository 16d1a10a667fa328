// `stet extensions`: which extensions there are, where each is from, whether it runs, and what it
// registers.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/device.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunExtensions(const ExtensionsCommand& command, client::Device& device,
                          Terminal& terminal);

/// A few lines for each; a sentence when there is none.
std::string ExtensionsText(const protocol::ExtensionRows& rows);

}  // namespace stet::cli
