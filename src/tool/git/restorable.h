// What git could give back if it were lost: a file, or a folder with all that is in it.
#pragma once

#include <string>

#include "tool/git/tracked.h"

namespace stet::tool {

/// Whether all that is at the path, which lies in the project at `root`, can be restored: there is
/// nothing, or git has every file of it as it is. False for more than kMaxRestorableFiles.
bool IsRestorable(const TrackedFiles& files, const std::string& root, const std::string& path);
inline constexpr std::size_t kMaxRestorableFiles = 20'000;

}  // namespace stet::tool
