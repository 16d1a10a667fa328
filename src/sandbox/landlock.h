// Landlock: keeps this process, and all that it starts, to some files. It has grants only: nothing
// inside of a granted folder can be excluded, so a folder with an unreadable file in it is not
// granted whole, but entry by entry.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stet::sandbox {

/// No truncating outside (Linux 6.2), and no signals and no abstract sockets outside (Linux 6.12).
inline constexpr int kLandlockTruncates = 3;
inline constexpr int kLandlockScopes = 6;

/// What the kernel has; 0: nothing.
int LandlockVersion();

struct LandlockRules {
  std::vector<std::string> writable;
  std::vector<std::string> readable;    // Nothing else is, when there are any; else everything.
  std::vector<std::string> unreadable;  // Their names can be listed, their contents not be read.
  std::vector<std::string> devices;     // May be read and written.
};

/// Files, signals and abstract sockets. Needs no_new_privs.
Status ApplyLandlock(const LandlockRules& rules);

/// Signals and abstract sockets only; does nothing where the kernel cannot.
Status ApplyLandlockScope();

/// The paths that cover everything below `roots` but `unreadable`: a whole folder where nothing in
/// it is, else its entries one by one.
std::vector<std::string> Around(std::vector<std::string> roots,
                                const std::vector<std::string>& unreadable);

}  // namespace stet::sandbox
