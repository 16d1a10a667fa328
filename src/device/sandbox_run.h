// Running one command in the sandbox of a project, for `stet sandbox`.
#pragma once

#include "base/result.h"
#include "config/roots.h"
#include "protocol/device.h"

namespace stet::device {

/// See client::Device::RunSandboxed.
Result<protocol::SandboxEnd> RunSandboxed(const config::Roots& roots,
                                          const protocol::SandboxRun& run);

}  // namespace stet::device
