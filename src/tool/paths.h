// Paths: from what a model calls a file to the file. Looks at the disk, changes nothing, opens
// nothing; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tool/tool.h"

namespace stet::tool {

struct RealPath {
  std::string path;         // Absolute, without symlinks, "." or "..".
  bool in_project = false;  // The project's root itself counts.
  bool exists = false;      // When not, the tail that does not exist stands in `path` as given.

  friend bool operator==(const RealPath&, const RealPath&) = default;
};

/// Relative paths start at the workspace's cwd. A symlink at the end is followed, also one that
/// dangles. kInvalid for what is no path to a file of the user: an empty text, NUL bytes, "~",
/// anything in /proc, /sys or /dev (but for /dev/shm), a file used as a folder, a circle of
/// symlinks. Messages are for the model.
Result<RealPath> Resolve(std::string_view text, const Workspace& workspace);

/// The same for a call that runs: kConflict when that file is none of those that were decided on,
/// because a folder has become a link since.
Result<RealPath> ResolveDecided(std::string_view text, const Call& call);

/// Beneath what a real path is opened: the project, when it is in it, else "/".
std::string RootOf(const std::string& path, const Workspace& workspace);

/// Whether `path` is `folder` or below it; both real.
bool IsInside(std::string_view path, std::string_view folder);

/// Why a change of the file at a real path may reach further than the path says: it has other names
/// that are excluded or outside of the project, or lies on another mount than the project that it
/// is in. Empty: it does not.
std::string CautionAbout(const std::string& path, const Workspace& workspace);

/// Why to read it would show more than the path says: another name of it is excluded.
std::string CautionAboutReading(const std::string& path, const Workspace& workspace);

/// How a real path is shown: relative to the cwd when it is below it.
std::string Shown(const std::string& path, const Workspace& workspace);

}  // namespace stet::tool
