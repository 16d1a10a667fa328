// Small questions about texts. Letters are those of ASCII; whatever else a text has stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stet {

/// Blanks, tabs and line ends.
inline constexpr std::string_view kWhitespace = " \t\r\n";

/// Without `blanks` at both ends.
std::string_view Trimmed(std::string_view text, std::string_view blanks = kWhitespace);

constexpr char LowerChar(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string Lower(std::string_view text);

/// With `to` in the place of every `from`. Gone through once: what was put in is not looked at
/// again, so it ends whatever the two are. An empty `from` is nowhere.
std::string Replaced(std::string_view text, std::string_view from, std::string_view to);

/// Up to its first line end, without it.
std::string_view FirstLine(std::string_view text);

/// Without their ends. A text that ends with a line end has no empty line behind it.
std::vector<std::string_view> SplitLines(std::string_view text);

}  // namespace stet
