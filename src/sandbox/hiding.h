// Hiding: a view of the file system in which some places are not to be had, and all else is as it
// is outside. For commands that a person allowed, where a rule of theirs denies files.
//
// An ordinary user's command is in a user namespace of its own: there it is who it was, sudo and
// other users' files are not, and no process outside lets it look through its eyes. Root's keeps
// the rights that it has, but for those by which it could look past a mount.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/mounts.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// What is hidden and read-only of the profile, and, where we may mount as we are, what root could
/// use otherwise: disks are hidden, what the kernel is told is read-only.
std::vector<Mount> PlanHiding(const Profile& profile);

/// For a process with one thread. `stand_in` is what stands for hidden files. kConflict when a path
/// leads through a symlink by now; kUnsupported where it cannot be done whole.
Status HideFromHere(const std::vector<Mount>& mounts, const std::string& stand_in);

}  // namespace stet::sandbox
