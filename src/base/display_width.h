// Text on a terminal: how many columns it takes, and how to cut it to fit. CJK and emoji take two
// columns, combining marks none; a grapheme is never cut in half. Pure functions over valid UTF-8;
// bad bytes count one column each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stet {

std::size_t TextWidth(std::string_view text);

/// How many bytes the first grapheme takes; 0 when there is none.
std::size_t FirstGrapheme(std::string_view text);

/// `text` in at most `columns`: whole when it fits, else cut with an ellipsis in the last column.
std::string FitText(std::string_view text, std::size_t columns);

/// `text` as one line: runs of white space and line breaks become one blank, at neither end.
std::string OneLineText(std::string_view text);

/// For finding: the same for texts that differ only in case, in width (full-width letters,
/// half-width kana) or in how marks are composed.
std::string FoldedText(std::string_view text);

/// Control characters, escape sequences among them, made visible, and characters that turn text
/// around (U+202E) or break lines in hiding: what others wrote must not drive our terminal. Keeps
/// line breaks and tabs.
std::string PrintableText(std::string_view text);

}  // namespace stet
