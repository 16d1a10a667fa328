#include "tool/near_match.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "tool/text_file.h"

namespace stet::tool {

namespace {

/// Of a longer text only these lines are compared.
constexpr std::size_t kMaxWindow = 200;
constexpr std::size_t kMaxShown = 120;

std::string Quoted(std::string_view line) {
  const std::string_view part = line.substr(0, Utf8PrefixLength(line, kMaxShown));
  std::string shown;
  for (const char c : part) shown += c == '\t' ? std::string("\\t") : std::string(1, c);
  return fmt::format("`{}{}`", shown, part.size() < line.size() ? "..." : "");
}

/// "   12\ttext", as Read shows lines.
bool HasLineNumber(std::string_view line) {
  const std::size_t digits = line.find_first_not_of(' ');
  if (digits == std::string_view::npos) return false;
  const std::size_t end = line.find_first_not_of("0123456789", digits);
  return end != std::string_view::npos && end > digits && line[end] == '\t';
}

std::vector<std::size_t> HashesOf(const std::vector<std::string_view>& lines) {
  std::vector<std::size_t> hashes;
  hashes.reserve(lines.size());
  for (const std::string_view line : lines)
    hashes.push_back(std::hash<std::string_view>()(Trimmed(line)));
  return hashes;
}

struct Window {
  std::size_t start = 0;
  std::size_t score = 0;
};

/// Where most of the wanted lines stand in their places, blanks aside. Empty lines count nothing.
Window BestWindow(const std::vector<std::string_view>& lines,
                  const std::vector<std::string_view>& wanted) {
  const std::vector<std::size_t> have = HashesOf(lines);
  const std::vector<std::size_t> want = HashesOf(wanted);
  const std::size_t empty = std::hash<std::string_view>()("");
  Window best;
  for (std::size_t start = 0; start < have.size(); ++start) {
    const std::size_t count = std::min({want.size(), have.size() - start, kMaxWindow});
    std::size_t score = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (have[start + i] == want[i] && want[i] != empty) ++score;
    if (score > best.score) best = {start, score};
  }
  return best;
}

/// The line that begins most like the wanted one, blanks aside; no start when none is half alike.
Window MostAlike(const std::vector<std::string_view>& lines, std::string_view wanted) {
  wanted = Trimmed(wanted);
  Window best;
  for (std::size_t start = 0; start < lines.size(); ++start) {
    const std::string_view line = Trimmed(lines[start]);
    const auto same = std::ranges::mismatch(line, wanted).in2 - wanted.begin();
    if (static_cast<std::size_t>(same) > best.score) best = {start, static_cast<std::size_t>(same)};
  }
  if (2 * best.score < wanted.size()) best.score = 0;
  return best;
}

std::string ExplainWindow(const std::vector<std::string_view>& lines,
                          const std::vector<std::string_view>& wanted, const Window& best) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t number = best.start + i + 1;
    if (number > lines.size())
      return fmt::format("It nearly matches at line {}, but the file ends at line {}.",
                         best.start + 1, lines.size());
    const std::string_view line = lines[number - 1];
    if (line == wanted[i]) continue;
    const bool blanks = Trimmed(line) == Trimmed(wanted[i]);
    return fmt::format(
        "It nearly matches at line {}, but line {} {}: the file has {}, you gave {}.",
        best.start + 1, number, blanks ? "differs in blanks" : "differs", Quoted(line),
        Quoted(wanted[i]));
  }
  return fmt::format("It nearly matches at line {}, but does not end there: look at the line ends.",
                     best.start + 1);
}

}  // namespace

std::string ExplainNoMatch(std::string_view text, std::string_view wanted) {
  const std::vector<std::string_view> lines = SplitLines(text);
  const std::vector<std::string_view> parts = SplitLines(wanted);
  if (std::ranges::all_of(parts, HasLineNumber))
    return "It has line numbers in it, as Read shows them: leave them out.";
  Window best = BestWindow(lines, parts);
  if (best.score == 0 && !parts.empty()) best = MostAlike(lines, parts.front());
  if (best.score > 0) return ExplainWindow(lines, parts, best);
  return "Nothing in the file comes near it. Read the file again.";
}

}  // namespace stet::tool
