// The JSON examples of a page of doc/format/: tests hold the page and the program together.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/fs.h"

namespace stet {

/// A page of the source tree at `source`, whole.
inline std::string FormatPage(const std::string& source, const std::string& name) {
  return ReadFile(source + "/doc/format/" + name).value_or("");
}

/// The lines of its blocks of JSON.
inline std::vector<std::string> ExampleLines(const std::string& page) {
  std::vector<std::string> lines;
  bool inside = false;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string line = page.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```"))
      inside = line == "```json";
    else if (inside)
      lines.push_back(line);
  }
  return lines;
}

}  // namespace stet
