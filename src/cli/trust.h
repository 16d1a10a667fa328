// `stet trust`: what the project here brings that acts, and what of it may.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunTrust(const TrustCommand& command, client::Device& device, face::Console& console);

}  // namespace stet::cli
