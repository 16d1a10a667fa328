// The walk over the syntax of a line: which simple commands it would run, with which words, where.
//
// Folders are followed through `cd` as far as they are certain: after `cd a && b` only a counts for
// b, after `cd a; b` the start does as well, because cd may fail. What a branch, a loop or a
// function may have changed is not known behind it. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "policy/shell/shell.h"

namespace stet::policy {

/// Adds the commands of `line` to the analysis, judged. kUnsupported when it is not understood.
Status WalkShell(std::string_view line, ShellAnalysis& analysis);

}  // namespace stet::policy
