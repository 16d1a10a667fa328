// A user namespace that this process has just made.
#pragma once

#include <sys/types.h>

namespace stet::guard {

/// We are who we were, and no other user is there. False, with errno, when the system does not let
/// us say so. For a process with one thread; it is not dumpable afterwards.
bool StayWhoWeAre(uid_t user, gid_t group);

}  // namespace stet::guard
