// Bubblewrap: a profile as arguments of bwrap.
#pragma once

#include <string>
#include <vector>

#include "sandbox/mounts.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

struct BubblewrapWish {
  std::string cwd;
  std::string empty;        // A file with nothing in it, to stand for hidden ones.
  bool privileged = false;  // We may mount as we are: the command must not.
};

/// Without the program's name and the command. The command has its own processes, its own IPC and
/// host name, a fresh /proc, a minimal /dev, `profile.temp` as /tmp, and, unless it is open, its
/// own network.
std::vector<std::string> BubblewrapArguments(const Profile& profile,
                                             const std::vector<Mount>& mounts,
                                             const BubblewrapWish& wish);

/// The same for what only hides: all else is as it is outside.
std::vector<std::string> HidingArguments(const std::vector<Mount>& mounts,
                                         const BubblewrapWish& wish);

}  // namespace stet::sandbox
