// What is excluded, as paths on the disk: for boxes, which hide it from commands, and for searches.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ignore.h"

namespace stet::tool {

struct ExcludedPaths {
  std::vector<std::string> paths;  // Files, and folders with all that is in them. Real.
  bool all = true;                 // False: there are more than could be found within the limits.
};

struct ExcludedLimits {
  std::size_t paths = 200;  // Each is a mount.
  std::size_t entries = 200'000;
  std::size_t inside = 1000;  // Looked at in excluded folders, for files with several names.
  std::chrono::milliseconds time{1000};
};

/// Looks through the project as it is now, except for .git folders: git needs what is in them.
/// Symlinks are passed over: what they lead to has a path of its own. A folder that cannot be
/// listed counts as excluded. So does every name in the project of a file that is excluded under
/// another one; of files in excluded folders as far as limits.inside goes.
ExcludedPaths FindExcluded(const std::string& project, const IgnoreFile& exclude,
                           const ExcludedLimits& limits = {});

struct ExcludedPlace {
  std::string folder;
  std::shared_ptr<const IgnoreFile> patterns;  // Below it; null: the folder, or file, itself.
};

/// The same of several places. Of paths that contain one another the outer one is given; what does
/// not exist is passed over.
ExcludedPaths FindExcluded(const std::vector<ExcludedPlace>& places,
                           const ExcludedLimits& limits = {});

/// A file, whatever its name.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

/// The excluded files of a project that have more names than one.
std::set<FileId> ExcludedWithOtherNames(const std::string& project, const IgnoreFile& exclude);

}  // namespace stet::tool
