#include "base/display_width.h"

#include <algorithm>
#include <cstdlib>

#include <utf8proc.h>

#include "base/utf8.h"

namespace stet {
namespace {

/// Steps through graphemes: calls `visit(bytes, columns)` for each until it answers false.
template <class Visit>
void EachGrapheme(std::string_view text, Visit visit) {
  utf8proc_int32_t state = 0;
  utf8proc_int32_t last = -1;
  std::size_t start = 0;
  std::size_t at = 0;
  int columns = 0;
  while (at < text.size()) {
    utf8proc_int32_t point = -1;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    const bool bad = length <= 0;
    if (at > start && (bad || last < 0 || utf8proc_grapheme_break_stateful(last, point, &state))) {
      if (!visit(text.substr(start, at - start), static_cast<std::size_t>(columns))) return;
      start = at;
      columns = 0;
      state = 0;
    }
    // A cluster is as wide as its widest member.
    columns = std::max(columns, bad ? 1 : utf8proc_charwidth(point));
    last = bad ? -1 : point;
    at += bad ? 1 : static_cast<std::size_t>(length);
  }
  if (at > start) visit(text.substr(start), static_cast<std::size_t>(columns));
}

bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

/// Whether the text begins with what breaks a line, or turns around what follows it on a terminal:
/// U+2028 to U+202E and U+2066 to U+2069. The marks that only say where a letter belongs (U+200E,
/// U+200F) stay: texts from right to left need them.
bool TurnsText(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\x80') return last >= 0xA8 && last <= 0xAE;
  return text[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
}

}  // namespace

std::size_t TextWidth(std::string_view text) {
  if (IsPlain(text)) return text.size();
  std::size_t width = 0;
  EachGrapheme(text, [&](std::string_view, std::size_t columns) {
    width += columns;
    return true;
  });
  return width;
}

std::size_t FirstGrapheme(std::string_view text) {
  std::size_t bytes = 0;
  EachGrapheme(text, [&](std::string_view grapheme, std::size_t) {
    bytes = grapheme.size();
    return false;
  });
  return bytes;
}

std::string FitText(std::string_view text, std::size_t columns) {
  if (TextWidth(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::string fitted;
  std::size_t width = 0;
  EachGrapheme(text, [&](std::string_view grapheme, std::size_t wide) {
    if (width + wide > columns - 1) return false;
    fitted += grapheme;
    width += wide;
    return true;
  });
  return fitted + "\u2026";
}

std::string OneLineText(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string FoldedText(std::string_view text) {
  utf8proc_uint8_t* folded = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &folded,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                  UTF8PROC_COMPAT | UTF8PROC_CASEFOLD));
  if (length < 0) return std::string(text);  // No UTF-8.
  std::string out(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(length));
  std::free(folded);
  return out;
}

std::string PrintableText(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) {
      out += "\uFFFD";
      ++i;
    } else if (TurnsText(text.substr(i))) {
      out += "\uFFFD";
      i += 2;
    } else if (byte == 0x7F) {
      out += "\u2421";
    } else if (byte < 0x20 && byte != '\n' && byte != '\t') {
      AppendUtf8(out, 0x2400 + byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace stet
