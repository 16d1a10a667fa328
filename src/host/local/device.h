// This device, as the process finds it: its folders, its configuration, its programs.
#pragma once

#include <memory>

#include "client/device.h"
#include "config/roots.h"

namespace stet::host {

/// Touches nothing until it is asked.
std::unique_ptr<client::Device> MakeLocalDevice(config::Roots roots);

/// See client::Device::Examine.
protocol::CheckRows ExamineDevice(const config::Roots& roots);

}  // namespace stet::host
