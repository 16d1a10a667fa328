// Base64 with padding, as images and tokens travel in JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stet {

void AppendBase64(std::string& out, std::string_view bytes);

/// The bytes; line breaks and blanks between letters are passed over. Nothing when `text` is no
/// padded base64.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace stet
