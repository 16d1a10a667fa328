// Mounts: a profile's paths as mounts, in the order in which bwrap or a namespace makes them.
#pragma once

#include <string>
#include <vector>

#include "sandbox/profile.h"

namespace stet::sandbox {

struct Mount {
  enum class Kind {
    kWritable,  // The path over itself, writable.
    kPinned,    // The same, for a folder that must not be moved away with what is in it.
    kReadOnly,  // The path over itself, read-only.
    kHidden,    // Nothing over the path.
    kAbsent,    // An empty folder where nothing is, so that nothing can be made there.
  };
  Kind kind = Kind::kWritable;
  std::string path;  // Real, except for what is absent.
  bool is_dir = true;

  friend bool operator==(const Mount&, const Mount&) = default;
};

/// Looks at the file system, and leaves out what is not there. Symlinks are followed now: what is
/// changed later leads nowhere else.
std::vector<Mount> PlanMounts(const Profile& profile);

/// The paths of `profile.read_only` that are not there. A caller that makes folders in their place
/// removes them again.
Texts AbsentPaths(const Profile& profile);

}  // namespace stet::sandbox
