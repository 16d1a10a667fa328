#include "base/ignore.h"

#include "base/text.h"
#include "base/wildcard.h"

namespace stet {

namespace {

/// Blanks at the end do not count, unless the last one is escaped.
std::string_view WithoutBlanks(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

}  // namespace

IgnoreFile::IgnoreFile(std::string_view text) {
  for (std::string_view line : SplitLines(text)) {
    line = WithoutBlanks(line);
    if (line.empty() || line.starts_with('#')) continue;
    Rule rule;
    if (line.starts_with('!')) {
      rule.keeps = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      rule.dirs_only = true;
      line.remove_suffix(1);
    }
    rule.parts = PatternParts(line);
    if (rule.parts.empty()) continue;
    // A slash at the start or inside binds the rule to this folder.
    if (line.find('/') == std::string_view::npos) rule.parts.insert(rule.parts.begin(), "**");
    // "a/**" is everything inside a, but not a itself.
    if (rule.parts.back() == "**") rule.parts.emplace_back("*");
    rules_.push_back(std::move(rule));
  }
}

IgnoreFile::Verdict IgnoreFile::Judge(const std::vector<std::string_view>& path,
                                      bool is_dir) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if ((is_dir || !rule->dirs_only) && MatchPath(rule->parts, path))
      return rule->keeps ? Verdict::kKept : Verdict::kIgnored;
  return Verdict::kNothing;
}

bool IgnoreFile::Covers(std::string_view path) const {
  const std::vector<std::string_view> parts = PathParts(path);
  std::vector<std::string_view> at;
  for (const std::string_view part : parts) {
    at.push_back(part);
    const bool last = at.size() == parts.size();
    const Verdict verdict = Judge(at, !last);
    // What the last part is is not known here: as a folder it is covered as well.
    if (verdict == Verdict::kIgnored || (last && Judge(at, true) == Verdict::kIgnored)) return true;
  }
  return false;
}

}  // namespace stet
