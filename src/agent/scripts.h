// The shell scripts of the project that a command runs, taken apart as the command itself is: for
// rules that deny or ask. Blocks on the disk.
#pragma once

#include <vector>

#include "policy/shell/shell.h"
#include "tool/tool.h"

namespace stet::agent {

inline constexpr std::size_t kMaxScripts = 16;

/// Of `bash x.sh`, `. x.sh` and `./x.sh`, and what those run in turn. Left out are files that are
/// larger than a command may be, that are not the project's or not the shell's, and what is not
/// understood.
std::vector<policy::ShellAnalysis> ScriptsOf(const policy::ShellAnalysis& shell,
                                             const tool::Workspace& workspace);

}  // namespace stet::agent
