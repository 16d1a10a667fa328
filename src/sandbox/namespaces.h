// Namespaces: mounts and a network of this process's own, made without another program.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/mounts.h"

namespace stet::sandbox {

struct OwnPlaces {
  std::string temp;     // A folder to have as /tmp; empty: one in memory.
  bool network = true;  // One of its own, with a loopback.
};

/// For a process with one thread, below the first of a PID namespace that we may make others in.
/// What is not mounted writable is read-only then; /dev is a small one of its own.
Status EnterNamespaces(const std::vector<Mount>& mounts, const OwnPlaces& own);

/// Of a mount; `how` is 0 or AT_RECURSIVE.
Status SetReadOnly(const std::string& path, bool read_only, unsigned how);

}  // namespace stet::sandbox
