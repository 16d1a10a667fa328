// IgnoreRules: what git ignores at a place in a project, by the .gitignore files from its root down
// to the folder that is looked at. Used by whatever walks a project; blocks on the disk.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ignore.h"

namespace stet::tool {

class IgnoreRules {
 public:
  /// The walk enters a folder, which `depth` parts lead to; its rules count until Leave is given
  /// what this returned.
  std::size_t Enter(const std::string& folder, std::size_t depth);
  void Leave(std::size_t mark) {
    levels_.erase(levels_.begin() + static_cast<std::ptrdiff_t>(mark), levels_.end());
  }

  /// Whether git ignores the last of `parts`, which lead to it from the root. The innermost file
  /// that says anything decides.
  [[nodiscard]] bool Ignores(const std::vector<std::string>& parts, bool is_dir) const;

 private:
  struct Level {
    IgnoreFile file;
    std::size_t depth;
  };
  std::vector<Level> levels_;  // Those that say anything.
};

}  // namespace stet::tool
