// The command about what runs in the background.
#pragma once

#include <string>

#include "cli/interactive_desk.h"

namespace stet::cli {

/// `argument`: nothing, "stop ID" or "output ID".
void RunTasksList(const std::string& argument, Desk& desk);

}  // namespace stet::cli
