// `stet hooks` and /hooks: what is configured to run when something happens, and where it is from.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/device.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunHooks(const HooksCommand& command, client::Device& device, Terminal& terminal);

/// One row a hook; a sentence when there is none.
std::string HooksText(const protocol::HookRows& rows);

}  // namespace stet::cli
