// Bounded output: the head and the tail of a text that is too long to show. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stet::tool {

/// `text` when it has at most `max_bytes`; else its beginning and its end, cut at line ends where
/// there is one near and never inside a code point, around a line that says how many bytes are left
/// out and `note` ("The whole is in blob ..."). The result has about `max_bytes`.
std::string HeadAndTail(std::string_view text, std::size_t max_bytes, std::string_view note);

/// The last `max_bytes`, from the beginning of a line where there is one; invalid UTF-8 is
/// replaced.
std::string TailText(std::string_view bytes, std::size_t max_bytes);

}  // namespace stet::tool
