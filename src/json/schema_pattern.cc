#include "json/schema_pattern.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "json/schema.h"

namespace stet {
namespace {

constexpr std::size_t kMaxPatternBytes = 1000;
constexpr std::size_t kMaxPatternCost = 2000;
constexpr std::size_t kMaxGroups = 50;

/// The larger number of "{n}", "{n,}" or "{n,m}" at the start of `text`; 0 when that is none of
/// these.
std::size_t Repeats(std::string_view text) {
  std::size_t most = 0;
  for (std::size_t at = 1; at < text.size() && text[at] != '}';) {
    std::size_t number = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) return kMaxPatternCost + 1;
    most = std::max(most, number);
    at = error == std::errc() ? static_cast<std::size_t>(stop - text.data()) : at + 1;
  }
  return most;
}

std::size_t ClassLength(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == ']')
      return at + 1;
  }
  return text.size();
}

/// About how many states the pattern needs: repeats multiply what they repeat. Matching recurses
/// over them, so a pattern that needs too many is refused before it is compiled.
std::size_t Cost(std::string_view pattern) {
  std::vector<std::size_t> groups{0};  // The cost of each group that is open.
  std::size_t last = 0;                // Of the last atom, which is in groups.back().
  for (std::size_t at = 0; at < pattern.size() && groups.size() <= kMaxGroups;) {
    const char c = pattern[at];
    if (c == '(') {
      groups.push_back(1);
      ++at;
      continue;
    }
    if (c == '{') {
      const std::size_t extra = last * std::max<std::size_t>(Repeats(pattern.substr(at)), 1);
      groups.back() = std::min(groups.back() + extra, kMaxPatternCost + 1);
      last = extra;
      at = std::min(pattern.find('}', at), pattern.size() - 1) + 1;
      continue;
    }
    last = 1;
    if (c == ')' && groups.size() > 1) {
      last = groups.back();
      groups.pop_back();
    }
    groups.back() = std::min(groups.back() + last, kMaxPatternCost + 1);
    at += c == '\\' ? 2 : c == '[' ? ClassLength(pattern.substr(at)) : 1;
  }
  return groups.size() > kMaxGroups ? kMaxPatternCost + 1 : groups.front();
}

}  // namespace

Result<SchemaPattern> CompilePattern(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes || Cost(pattern) > kMaxPatternCost) {
    return Fail(Code::kUnsupported, "a pattern of the schema is too large");
  }
  try {
    // The polynomial matcher neither backtracks nor recurses over the text; it has no
    // back-references.
    return SchemaPattern{std::string(pattern),
                         std::regex(pattern.begin(), pattern.end(),
                                    std::regex::ECMAScript | std::regex_constants::__polynomial)};
  } catch (const std::regex_error&) {
    return Fail(Code::kUnsupported, fmt::format("the schema has an unknown pattern: {}", pattern));
  }
}

bool Matches(const SchemaPattern& pattern, std::string_view text) {
  if (text.size() > JsonSchema::kMaxPatternText) return false;
  try {
    return std::regex_search(text.begin(), text.end(), pattern.regex);
  } catch (const std::regex_error&) {
    return false;
  }
}

}  // namespace stet
