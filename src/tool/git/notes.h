// What a model and its user should know of a command that calls git here, because git itself does
// not say it.
#pragma once

#include <string>
#include <vector>

#include "tool/tool.h"

namespace stet::tool {

/// Lines for the result of a command; empty: nothing to say. `variables` are the environment that
/// it had. Blocks on the disk for a moment where the command speaks of git at all.
std::string GitNotes(const std::string& command, const std::vector<std::string>& variables,
                     const Call& call);

}  // namespace stet::tool
