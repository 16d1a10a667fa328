// Keyring: the key of the vault in the keyring of the user's desktop, through libsecret, which is
// loaded when it is first needed and where it is installed. Blocking: it asks another process.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace stet::device {

/// Whether a keyring can be asked: a session bus is there, and the library.
bool HasKeyring();

/// The text kept under that name; nothing when there is none. kUnavailable when the keyring does
/// not answer, or stays locked.
Result<std::optional<std::string>> ReadKeyring(const std::string& name);
Status WriteKeyring(const std::string& name, const std::string& text);

}  // namespace stet::device
