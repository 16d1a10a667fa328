// Sockets in the file system: a read-only mount keeps nobody from connecting to one, so those that
// a box should not reach are hidden in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/mounts.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// The paths in a table of sockets, as /proc/net/unix is one: absolute ones, each once. Untrusted.
std::vector<std::string> SocketPaths(std::string_view table);

/// Mounts that hide what is bound on this machine now outside of what the profile makes writable.
/// Behind those of PlanMounts. Not found are sockets that are bound later, by a path that does not
/// begin at the root, or in another network namespace.
std::vector<Mount> PlanSockets(const Profile& profile);

}  // namespace stet::sandbox
