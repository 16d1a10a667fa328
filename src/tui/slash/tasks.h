// The command about what runs in the background.
#pragma once

#include <string>

#include "tui/command_environment.h"

namespace stet::tui {

/// `argument`: nothing, "stop ID" or "output ID".
void RunTasksList(const std::string& argument, CommandEnvironment& environment);

}  // namespace stet::tui
