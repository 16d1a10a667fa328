// Seal: a text that only a holder of the key can read or change; any other change is noticed
// (XSalsa20-Poly1305). Safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stet {

inline constexpr std::size_t kSealKeyBytes = 32;

/// A new key, from the system's randomness.
std::string NewSealKey();

/// Never the same twice for the same text. `key` has kSealKeyBytes bytes.
std::string Seal(std::string_view text, std::string_view key);

/// kCorrupt when it was changed, or the key is another.
Result<std::string> Unseal(std::string_view sealed, std::string_view key);

/// Proves that who made it knew `key`, which has kSealKeyBytes bytes: hex (BLAKE2b, 256 bits).
std::string MacHex(std::string_view text, std::string_view key);

/// In a time that says nothing of where they differ.
bool SameBytes(std::string_view one, std::string_view other);

}  // namespace stet
