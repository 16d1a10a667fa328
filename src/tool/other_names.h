// Other names of a file (hard links): what is read or written under one of them is read or written
// under all.
#pragma once

#include <string>
#include <vector>

#include "tool/tool.h"

namespace stet::tool {

struct OtherNames {
  std::string excluded;    // One that is excluded, or called like a secret; empty: none was found.
  bool elsewhere = false;  // Not all of them were found in the project.
  std::vector<std::string> paths = {};  // Those that were, but for the one that was asked about.
};

/// Looks for them in the project, within 50,000 entries and a quarter of a second. Of a file with
/// one name, or of none: neither.
OtherNames FindOtherNames(const std::string& path, const Workspace& workspace);

}  // namespace stet::tool
