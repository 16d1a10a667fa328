// What of a project is excluded, as paths on the disk: for the sandbox, which hides it from
// commands.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/ignore.h"

namespace stet::tool {

struct ExcludedPaths {
  std::vector<std::string> paths;  // Files, and folders with all that is in them.
  bool all = true;                 // False: there are more than could be found within the limits.
};

struct ExcludedLimits {
  std::size_t paths = 200;  // Each is a mount.
  std::size_t entries = 200'000;
  std::chrono::milliseconds time{1000};
};

/// Looks through the project as it is now, except for .git folders: git needs what is in them.
/// Symlinks are passed over: what they lead to has a path of its own. A folder that cannot be
/// listed counts as excluded.
ExcludedPaths FindExcluded(const std::string& project, const IgnoreFile& exclude,
                           const ExcludedLimits& limits = {});

}  // namespace stet::tool
