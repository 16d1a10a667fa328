// The profile of commands that only read and run unasked: what of the machine and of the home
// folder they may read, in one place.
#pragma once

#include <string>

#include "sandbox/profile.h"

namespace stet::device {

struct Surroundings {
  std::string home;  // Empty: unknown.
  std::string path;  // $PATH: the folders of programs, and what lies beside them.
};

/// Readable: the system, the folders that `whole` lets commands write (the project, what was added
/// to it), programs, and of the home folder what programs are made of or obey, never keys. Nothing
/// is writable but temporary files of the command's own; no network, no sockets; of the environment
/// what is known to be harmless. `whole` is the profile of mode auto.
sandbox::Profile MakeReadsProfile(const sandbox::Profile& whole, const Surroundings& surroundings);

}  // namespace stet::device
