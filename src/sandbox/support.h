// Support: what this machine can enforce. Found out by trying, once in a process and only when it
// is asked; that takes some 10 ms. Safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/mechanism.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// The environment variable that names the only mechanism to use: for tests.
inline constexpr const char* kMechanismVariable = "STET_SANDBOX";

struct Tried {
  Mechanism mechanism = Mechanism::kBubblewrap;
  bool works = false;
  std::string why_not;  // For people.
};

/// Every mechanism, the best one first.
std::vector<Tried> TryAll();

/// Whether a mechanism will do that leaves some of the profile to chance (see Shortcoming).
enum class Need { kWhole, kBest };

/// The best one that works and can do what the profile asks for. kUnsupported says why there is
/// none, and what to do.
Result<Mechanism> Choose(const Profile& profile, Need need);

/// What a mechanism does not do, for people; empty: nothing.
std::string_view Shortcoming(Mechanism mechanism);

}  // namespace stet::sandbox
