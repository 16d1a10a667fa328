// What a command would open, as far as the disk can tell before it runs: the files that its
// patterns match, and where the links lead that it would follow on its way through folders.
//
// Looks at kMaxLooked entries of folders for a call at most. What lies beyond is not known: then
// the box keeps the command in, or it is asked where there is none. The disk may change before the
// command runs; that, too, is for the box. Changes nothing, opens folders only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policy/shell/shell.h"
#include "tool/tool.h"

namespace stet::agent {

class DiskReach {
 public:
  static constexpr std::size_t kMaxLooked = 5000;
  static constexpr std::size_t kMaxMatches = 64;  // Of one pattern, each by its name.

  explicit DiskReach(const tool::Workspace& workspace) : workspace_(workspace) {}

  /// The paths are real ones. A pattern whose matches are all known is replaced by them; links that
  /// are followed are added. `deep`: a pattern is of names at any depth, as `find -exec` has it.
  void Resolve(std::vector<policy::ShellPath>& reads, bool deep);

  /// Whether no name in a folder begins with a dash.
  bool HasNoDashes(const std::string& folder);

 private:
  struct Match {
    std::string path;
    bool folder = false;
  };

  void ResolvePattern(const policy::ShellPath& pattern, std::vector<policy::ShellPath>& out);
  void AddLinks(const policy::ShellPath& tree, bool deep, std::vector<policy::ShellPath>& out);
  /// Adds what matches the parts of a pattern from `at` on; false: there is more than may be looked
  /// at.
  bool Expand(const std::string& folder, const std::vector<std::string>& parts, std::size_t at,
              std::vector<Match>& matches);
  void AddReal(const std::string& path, bool folder, std::vector<policy::ShellPath>& out) const;

  const tool::Workspace& workspace_;
  std::size_t left_ = kMaxLooked;
};

}  // namespace stet::agent
