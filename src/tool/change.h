// Changing a file: what every tool that writes goes through. The log hears of the change, with the
// old content kept, before the disk does, or the client's editor where that writes files; on the
// disk the file is replaced in one step or not at all.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tool/load.h"
#include "tool/tool.h"

namespace stet::tool {

struct Change {
  std::string path;              // A real path.
  std::optional<Loaded> before;  // Absent: a new file.
  std::string after;
  std::optional<Raw> coverage;  // Of the new content, when it is not known whole.
};

/// Whether the model knows this version of a file; which lines is left to the caller. kConflict,
/// with what to do, when it was never read or is another now.
Result<const KnownFile*> CheckKnown(const KnownFiles& files, const std::string& path,
                                    const std::string& hash);

/// kDenied when the file is read-only.
Status CheckWritable(const std::string& path, const FileStat& stat);

/// Records the change, then does it, then makes it known. On failure the file is as it was, unless
/// the editor was asked to write it: then the error says that it is not known. kConflict when it
/// changed since `before` was read. Folders above a new file are made. `change` must outlive the
/// task.
Async<Status> Apply(Call& call, const Change& change);

}  // namespace stet::tool
