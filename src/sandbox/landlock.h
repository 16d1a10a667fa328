// Landlock: keeps this process, and all that it starts, to some files. It has grants only: nothing
// inside of a granted folder can be excluded, so a folder with an unreadable file in it is not
// granted whole, but entry by entry.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stet::sandbox {

/// Needed for what we want of it: no truncating outside, no signals outside, no abstract sockets
/// outside. Linux 6.12 has it.
inline constexpr int kLandlockVersion = 6;

/// What the kernel has; 0: nothing.
int LandlockVersion();

struct LandlockRules {
  std::vector<std::string> writable;
  std::vector<std::string> unreadable;  // Their names can be listed, their contents not be read.
  std::vector<std::string> devices;     // May be read and written.
};

/// Files, signals and abstract sockets. Needs no_new_privs.
Status ApplyLandlock(const LandlockRules& rules);

/// Signals and abstract sockets only; does nothing where the kernel cannot.
Status ApplyLandlockScope();

/// The paths that cover everything readable but `unreadable`: a whole folder where nothing in it
/// is, else its entries one by one.
std::vector<std::string> Around(const std::vector<std::string>& unreadable);

}  // namespace stet::sandbox
