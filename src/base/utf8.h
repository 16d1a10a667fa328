// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
//
// Pure functions on bytes, safe from any thread; nothing here fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stet {

bool IsValidUtf8(std::string_view text);

/// Every maximal bad part becomes one U+FFFD, as browsers do it; valid text comes back unchanged.
std::string ReplaceInvalidUtf8(std::string_view text);

/// The length of the longest prefix of at most `max_bytes` that does not cut a code point. Bytes
/// that are not UTF-8 may be cut anywhere.
std::size_t Utf8PrefixLength(std::string_view text, std::size_t max_bytes);

/// Appends one code point; U+FFFD for a surrogate or what is above U+10FFFF.
void AppendUtf8(std::string& out, char32_t code_point);

}  // namespace stet
