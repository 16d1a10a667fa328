// Inside: what a process gives up before it becomes a command in a box, when its mounts and its
// network are made already. The order of the steps matters; a step that fails ends it.
#pragma once

#include "base/result.h"
#include "sandbox/mechanism.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

struct Entering {
  const Profile& profile;
  Mechanism mechanism = Mechanism::kNamespaces;
  int proxy = -1;  // The socket to the proxy outside; -1: there is none.
};

/// For good: limits, capabilities, files by Landlock where the mechanism counts on it, system
/// calls. Moves temporary files and caches to where they can be written.
Status GiveUp(const Entering& entering);

}  // namespace stet::sandbox
