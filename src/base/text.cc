#include "base/text.h"

#include <algorithm>

namespace stet {

std::string_view Trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerChar(c);
  return lower;
}

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t at = from.empty() ? std::string_view::npos : text.find(from);
  while (at != std::string_view::npos) {
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
    at = text.find(from);
  }
  return out.append(text);
}

std::string_view FirstLine(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace stet
