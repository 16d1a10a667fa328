// Hooks, as people read about them.
#pragma once

#include <string>

#include "protocol/device.h"

namespace stet::face {

/// One row a hook; a sentence when there is none.
std::string HooksText(const protocol::HookRows& rows);

}  // namespace stet::face
