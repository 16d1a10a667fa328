// Mechanism: by what a profile is enforced.
#pragma once

#include <optional>
#include <string_view>

namespace stet::sandbox {

enum class Mechanism {
  kBubblewrap,     // Everything.
  kLandlock,       // With namespaces of our own: everything, without processes of its own.
  kLandlockAlone,  // No loopback, and nothing read-only inside of a writable folder.
};

inline constexpr Mechanism kMechanisms[] = {Mechanism::kBubblewrap, Mechanism::kLandlock,
                                            Mechanism::kLandlockAlone};

/// "bubblewrap", "landlock", "landlock-alone": as the log and $STET_SANDBOX have it.
constexpr std::string_view MechanismName(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kBubblewrap: return "bubblewrap";
    case Mechanism::kLandlock: return "landlock";
    case Mechanism::kLandlockAlone: return "landlock-alone";
  }
  return "";
}

constexpr std::optional<Mechanism> MechanismFrom(std::string_view name) {
  for (const Mechanism one : kMechanisms) {
    if (MechanismName(one) == name) return one;
  }
  return std::nullopt;
}

}  // namespace stet::sandbox
