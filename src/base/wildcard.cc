#include "base/wildcard.h"

#include <algorithm>

#include <fmt/format.h>

namespace stet {

namespace {

constexpr std::size_t kMaxPatternBytes = 4096;

/// A set that starts behind its "["; a set without an end is a plain "[".
bool MatchSet(std::string_view pattern, std::size_t& at, char c) {
  std::size_t i = at;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) {
      at = i + 1;
      return found != negated;
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i++];
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
    }
    const auto code = static_cast<unsigned char>(c);
    found = found ||
            (static_cast<unsigned char>(low) <= code && code <= static_cast<unsigned char>(high));
  }
  return c == '[';
}

/// One element of a pattern against one character. Moves `at` behind the element.
bool MatchOne(std::string_view pattern, std::size_t& at, char c) {
  const char element = pattern[at++];
  if (element == '?') return true;
  if (element == '[') return MatchSet(pattern, at, c);
  if (element == '\\' && at < pattern.size()) return pattern[at++] == c;
  return element == c;
}

/// "a{b,c}d" into "abd" and "acd", the first braces first. False when there are too many.
bool ExpandBraces(std::string text, std::vector<std::string>& out) {
  std::vector<std::string> todo{std::move(text)};
  while (!todo.empty()) {
    if (todo.size() + out.size() > Glob::kMaxAlternatives) return false;
    const std::string next = std::move(todo.back());
    todo.pop_back();
    const std::size_t open = next.find('{');
    std::vector<std::string> choices(1);
    std::size_t at = open == std::string::npos ? next.size() : open + 1;
    int depth = 1;
    for (; at < next.size() && depth > 0; ++at) {
      const char c = next[at];
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth == 1 && c == ',')
        choices.emplace_back();
      else if (depth > 0)
        choices.back() += c;
    }
    if (open == std::string::npos || depth > 0) {
      out.push_back(next);
      continue;
    }
    for (const std::string& choice : choices)
      todo.push_back(next.substr(0, open) + choice + next.substr(at));
  }
  return true;
}

}  // namespace

bool MatchPart(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t i = 0;
  // Where the last "*" was, and where its match ends: to let it take one character more.
  std::size_t star = std::string_view::npos;
  std::size_t star_end = 0;
  while (i < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_end = i;
      continue;
    }
    std::size_t next = at;
    if (at < pattern.size() && MatchOne(pattern, next, name[i])) {
      at = next;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++star_end;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool MatchPath(const std::vector<std::string>& pattern, const std::vector<std::string_view>& path) {
  std::size_t at = 0;
  std::size_t i = 0;
  std::size_t star = pattern.size();
  std::size_t star_end = 0;
  while (i < path.size()) {
    if (at < pattern.size() && pattern[at] == "**") {
      star = at++;
      star_end = i;
    } else if (at < pattern.size() && MatchPart(pattern[at], path[i])) {
      ++at;
      ++i;
    } else if (star < pattern.size()) {
      at = star + 1;
      i = ++star_end;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == "**") ++at;
  return at == pattern.size();
}

std::vector<std::string_view> PathParts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

std::vector<std::string> PatternParts(std::string_view pattern) {
  const std::vector<std::string_view> parts = PathParts(pattern);
  return {parts.begin(), parts.end()};
}

Result<Glob> Glob::Parse(std::string_view text) {
  if (text.empty()) return Fail(Code::kInvalid, "The pattern is empty.");
  if (text.size() > kMaxPatternBytes) return Fail(Code::kInvalid, "The pattern is too long.");
  while (text.starts_with("./")) text.remove_prefix(2);
  std::vector<std::string> expanded;
  if (!ExpandBraces(std::string(text), expanded))
    return Fail(Code::kInvalid,
                fmt::format("The pattern has more than {} alternatives.", kMaxAlternatives));
  Glob glob;
  for (const std::string& one : expanded) {
    std::vector<std::string> parts = PatternParts(one);
    if (one.find('/') == std::string::npos) parts.insert(parts.begin(), "**");
    glob.alternatives_.push_back(std::move(parts));
  }
  return glob;
}

bool Glob::Matches(std::string_view path) const {
  const std::vector<std::string_view> parts = PathParts(path);
  return std::ranges::any_of(alternatives_,
                             [&](const auto& pattern) { return MatchPath(pattern, parts); });
}

}  // namespace stet
