// Wildcard: patterns for paths, as gitignore and shells have them.
//
// `*` and `?` stand for any characters but "/", `[...]` for one of a set (ranges; `!` or `^` for
// all others), `**` as a whole part for any number of folders, `\` for the next character itself.
// Matching takes time in proportion to pattern times path, whatever the pattern. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet {

/// Whether one part of a path (no "/") matches one part of a pattern.
bool MatchPart(std::string_view pattern, std::string_view name);

/// Whether a whole relative path matches a whole pattern, part by part.
bool MatchPath(const std::vector<std::string>& pattern, const std::vector<std::string_view>& path);

/// The parts between the slashes; empty ones are dropped.
std::vector<std::string> PatternParts(std::string_view pattern);
std::vector<std::string_view> PathParts(std::string_view path);

/// A glob as the tools take it: with `{a,b}` for alternatives. One without "/" matches names at any
/// depth; one with "/" matches from the folder that is searched.
class Glob {
 public:
  /// kInvalid when it is empty, or has more than kMaxAlternatives.
  static Result<Glob> Parse(std::string_view text);
  static constexpr std::size_t kMaxAlternatives = 256;

  /// `path` is relative to the folder that is searched.
  [[nodiscard]] bool Matches(std::string_view path) const;

 private:
  std::vector<std::vector<std::string>> alternatives_;
};

}  // namespace stet
