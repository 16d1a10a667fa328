// `stet doctor` and `stet config`: what is wrong with this device or its configuration, and what to
// do about it.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "client/device.h"
#include "face/console.h"

namespace stet::cli {

/// The exit code, or why it failed: kExitFailed when something must be put right.
Result<int> RunDoctor(const DoctorCommand& command, client::Device& device, face::Console& console);
Result<int> RunConfig(const ConfigCommand& command, client::Device& device, face::Console& console);

}  // namespace stet::cli
