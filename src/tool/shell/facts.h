// What a command did to the project's files, as facts for the log.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/loop.h"
#include "protocol/work.h"
#include "tool/project/scan.h"
#include "tool/tool.h"

namespace stet::tool {

/// Facts of one call.
inline constexpr std::size_t kMaxShellFacts = 200;
/// Larger files get no hash.
inline constexpr std::uint64_t kMaxHashedBytes = std::uint64_t{4} << 20;

struct ShellFacts {
  std::vector<protocol::FileFact> facts;  // outside_write and delete, in the order of the paths.
  std::size_t left_out = 0;               // Beyond kMaxShellFacts.
  /// Places that programs obey and that came to be, relative to the project.
  std::vector<std::string> new_guarded = {};
  std::shared_ptr<const ProjectScan>
      scan;  // As the project is now. Null: it could not be looked at.
};

/// What changed since `before`. A file that has the content which the model knows is not told of:
/// our own tools wrote it, or it was only touched. Looks to the end even when the call is
/// cancelled, within the limits of a scan.
Async<ShellFacts> FactsSince(std::shared_ptr<const ProjectScan> before, Call& call);

}  // namespace stet::tool
