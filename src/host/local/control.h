// The device's host, as a process of the same user finds it: started, asked, stopped.
#pragma once

#include <memory>

#include "client/host_control.h"
#include "config/roots.h"

namespace stet::host {

std::unique_ptr<client::HostControl> MakeHostControl(config::Roots roots);

}  // namespace stet::host
