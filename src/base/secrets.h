// Secrets of known kinds, found by how they look: tokens of services, private keys, passwords in
// addresses and assignments. For what leaves the machine or is only there to be read later:
// diagnostics, exports, errors. Pure; time in proportion to the text.
#pragma once

#include <string>
#include <string_view>

namespace stet {

/// The text with "[masked]" in the place of each. Their beginnings stay where those say what kind
/// it is. JSON stays JSON.
std::string MaskSecrets(std::string_view text);

}  // namespace stet
