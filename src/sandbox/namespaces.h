// Namespaces: mounts and a network of this process's own, made without another program. What goes
// beyond Landlock's means (hidden files, read-only ones inside of writable folders, a loopback) is
// done so where the system lets us.
#pragma once

#include <vector>

#include "base/result.h"
#include "sandbox/mounts.h"

namespace stet::sandbox {

/// For a process with one thread. What is not mounted writable is read-only then. With a user
/// namespace where we have no right to do it without one. `empty` is a file with nothing in it, to
/// stand for hidden ones.
Status EnterNamespaces(const std::vector<Mount>& mounts, const std::string& empty,
                       bool own_network);

/// Whether we may mount without a user namespace.
bool MayMount();

/// Gives up every capability, for good.
Status DropCapabilities();

}  // namespace stet::sandbox
