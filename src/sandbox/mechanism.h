// Mechanism: by what a profile is enforced.
#pragma once

#include <optional>
#include <string_view>

namespace stet::sandbox {

enum class Mechanism {
  kNamespaces,     // Everything, with namespaces of our own and Landlock.
  kBubblewrap,     // Everything, where only bwrap may make namespaces. Dearer.
  kLandlockAlone,  // No loopback, and nothing read-only inside of a writable folder.
};

inline constexpr Mechanism kMechanisms[] = {Mechanism::kNamespaces, Mechanism::kBubblewrap,
                                            Mechanism::kLandlockAlone};

/// "namespaces", "bubblewrap", "landlock-alone": as the log and $STET_SANDBOX have it.
constexpr std::string_view MechanismName(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kNamespaces: return "namespaces";
    case Mechanism::kBubblewrap: return "bubblewrap";
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
