// Walking the files of a project as git sees them: .gitignore files count, .git folders are passed
// over, symlinks to folders are not followed. The order is that of the names, folder by folder.
//
// Blocks on the disk: for threads, not for the loop. Folders that cannot be read are passed over.
#pragma once

#include <functional>
#include <string>

#include "base/cancel.h"
#include "base/ignore.h"
#include "base/result.h"
#include "base/wildcard.h"

namespace stet::tool {

/// Deeper folders are passed over.
inline constexpr int kMaxWalkDepth = 100;

struct WalkRoot {
  std::string folder;   // A real path.
  std::string project;  // Rules of .gitignore files from here down to `folder` count too.
  /// Files that match are not ignored, unless they lie in an ignored folder. May be null.
  const Glob* even_ignored = nullptr;
  /// Relative to the project: what it covers is passed over. May be null.
  const IgnoreFile* exclude = nullptr;
};

/// The path is relative to the folder. False ends the walk.
using UseFile = std::function<bool(const std::string& path, bool is_link)>;

/// Calls `use` with each regular file and each symlink to one. kCancelled when the token is.
Status WalkFiles(const WalkRoot& root, const CancelToken& cancel, const UseFile& use);

}  // namespace stet::tool
