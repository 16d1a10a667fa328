// Blocked: what a sandbox kept a command from, told from what is known after its end. A guess, but
// for the refusals of the proxy: programs say in their own words what failed.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/profile.h"

namespace stet::sandbox {

/// At most so much of the end of the output is looked at.
inline constexpr std::size_t kMaxBlockedBytes = std::size_t{16} << 10;

struct Ending {
  const Profile& profile;
  std::string_view cwd;
  std::string_view output;  // Its end.
  int exit_code = 0;
  Texts refused_hosts;
};

/// Lines for the model and for people: what was blocked, by which rule of the profile, and how it
/// can be allowed. Empty when nothing tells of the sandbox.
std::string ExplainBlocked(const Ending& ending);

}  // namespace stet::sandbox
