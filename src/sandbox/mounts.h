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
  };
  Kind kind = Kind::kWritable;
  std::string path;  // Real.
  bool is_dir = true;

  friend bool operator==(const Mount&, const Mount&) = default;
};

/// Looks at the file system, and leaves out what is not there. Symlinks are followed now: what is
/// changed later leads nowhere else.
std::vector<Mount> PlanMounts(const Profile& profile);

}  // namespace stet::sandbox
