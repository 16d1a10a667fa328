// Seccomp: the system calls that a command in a sandbox does not have, whatever keeps its files.
//
// Refused with EPERM: tracing and reading the memory of others, mounts, namespaces, keys, kernel
// modules and BPF, io_uring (which would go round this filter), files by handle, typing into a
// terminal (TIOCSTI, TIOCLINUX), setuid and setgid bits on files, and sockets of families that the
// profile does not grant. clone3 and openat2, whose arguments a filter cannot see, are said not to
// exist: programs then use the older calls.
#pragma once

#include <vector>

#include <linux/filter.h>

#include "base/result.h"

namespace stet::sandbox {

struct SyscallRules {
  bool inet = false;       // IPv4 and IPv6.
  bool local = false;      // AF_UNIX; pairs are always granted.
  bool attributes = true;  // Modes, owners, times and extended attributes may be changed.
};

/// False on processors that the filter is not written for.
bool SeccompIsKnown();

std::vector<sock_filter> SeccompFilter(const SyscallRules& rules);

/// For this process and all that it starts, for good. Needs no_new_privs.
Status ApplySeccomp(const SyscallRules& rules);

}  // namespace stet::sandbox
