// `stet extensions`: which extensions there are, where each is from, whether it runs, and what it
// registers.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunExtensions(const ExtensionsCommand& command, client::Device& device,
                          face::Console& console);

/// A few lines for each; a sentence when there is none.
std::string ExtensionsText(const protocol::ExtensionRows& rows);

}  // namespace stet::cli
