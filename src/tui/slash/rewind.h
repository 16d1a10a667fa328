// The commands that move a session about in its tree: /rewind and /branch.
#pragma once

#include <string>

#include "tui/command_environment.h"

namespace stet::tui {

/// To before a prompt that the user picks, or to `event`; says which files changed since, and puts
/// them back when the user wants that.
void RunRewind(const std::string& event, CommandEnvironment& environment);

/// To another branch's leaf: that of `leaf`, or the one picked by the user.
void RunBranch(const std::string& leaf, CommandEnvironment& environment);

}  // namespace stet::tui
