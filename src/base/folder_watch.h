// FolderWatch: which folders of a tree changed since the last time it was asked.
//
// The kernel keeps the changes until they are taken: watching costs nothing while nothing changes,
// and no thread. Not told are changes of a file through another of its names, or of what a link
// leads to. Belongs to one thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "base/fd.h"

namespace stet {

class FolderWatch {
 public:
  FolderWatch();

  /// Every folder that was added is watched. False for good once the system has refused one: then
  /// nothing is known.
  [[nodiscard]] bool in_force() const { return in_force_; }

  /// Call it before the folder is listed: what changes from then on is told.
  void Add(const std::string& folder);
  /// The folder and all below it, before they are added again or left alone.
  void Forget(const std::string& folder);

  struct Changes {
    bool lost = false;              // There were too many to be kept: anything may have changed.
    std::set<std::string> folders;  // In which something changed.
    std::set<std::string> renewed;  // Folders that came, went, or are others under the same name.
    [[nodiscard]] bool empty() const { return !lost && folders.empty() && renewed.empty(); }
  };
  /// What changed since the last call; each change is told once.
  Changes Take();

 private:
  Fd fd_;
  bool in_force_ = false;
  std::unordered_map<int, std::string> folders_;
  std::map<std::string, int> numbers_;
};

}  // namespace stet
