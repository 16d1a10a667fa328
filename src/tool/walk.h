// Walking the files of a project as git sees them: .gitignore files count, .git folders are passed
// over, symlinks to folders are not followed. The order is that of the paths, by bytes.
//
// Blocks on the disk: for threads, not for the loop. Folders that cannot be read are passed over.
#pragma once

#include <functional>
#include <string>

#include "base/cancel.h"
#include "base/result.h"

namespace stet::tool {

/// Deeper folders are passed over.
inline constexpr int kMaxWalkDepth = 100;

/// Calls `use` with the path, relative to `folder`, of each regular file and of each symlink to
/// one, until that says false. Rules of .gitignore files from `project` down to `folder` count too.
/// Both are real paths. kCancelled when the token is.
using UseFile = std::function<bool(const std::string& path, bool is_link)>;
Status WalkFiles(const std::string& folder, const std::string& project, const CancelToken& cancel,
                 const UseFile& use);

}  // namespace stet::tool
