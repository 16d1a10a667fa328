#include "client/commands.h"

#include <numeric>
#include <utility>

#include "base/text.h"

namespace stet::client {
namespace {

/// A longer name is like none: comparing costs its length times that of each name.
constexpr std::size_t kMaxComparedName = 32;

bool IsLetters(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// How many letters must be put in, left out, changed or swapped with the next.
std::size_t LetterDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row = {i};
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t least =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) least = std::min(least, before[j - 2] + 1);
      row.push_back(least);
    }
    before = std::exchange(above, std::move(row));
  }
  return above[b.size()];
}

/// The table's names for this face, then those of extensions that the table does not have.
std::vector<std::string_view> NamesFor(Face face, const protocol::Texts& of_extensions) {
  std::vector<std::string_view> names;
  for (const CommandRow& row : kCommands)
    if (row.IsFor(face)) names.push_back(row.name);
  for (const std::string& name : of_extensions)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

std::string NearestName(std::string_view name, const std::vector<std::string_view>& names) {
  std::string nearest;
  if (name.size() > kMaxComparedName) return nearest;
  std::size_t best = 3;  // As many letters may differ, less one.
  for (const std::string_view other : names) {
    if (other.size() > kMaxComparedName) continue;
    const bool beginning = name.size() > 1 && other.starts_with(name);
    const std::size_t distance = beginning ? 0 : LetterDistance(name, other);
    if (distance >= best) continue;
    best = distance;
    nearest = other;
  }
  return nearest;
}

}  // namespace

ParsedLine ParseLine(std::string_view line, Face face, const protocol::Texts& of_extensions) {
  line = Trimmed(line);
  if (!line.starts_with('/')) return {};
  line.remove_prefix(1);
  const std::size_t end = std::min(line.find_first_of(kWhitespace), line.size());
  const std::string_view name = line.substr(0, end);
  if (name.empty() || !IsLetters(name)) return {};
  ParsedLine parsed;
  parsed.name = name;
  parsed.argument = Trimmed(line.substr(end));
  const auto* row = std::ranges::find(kCommands, name, &CommandRow::name);
  if (row != kCommands.end() && row->IsFor(face)) {
    parsed.kind = ParsedLine::Kind::kCommand;
  } else if (std::ranges::find(of_extensions, name) != of_extensions.end()) {
    parsed.kind = ParsedLine::Kind::kExtension;
  } else {
    parsed.kind = ParsedLine::Kind::kUnknown;
    parsed.nearest = NearestName(name, NamesFor(face, of_extensions));
  }
  return parsed;
}

std::vector<std::string> CompletionsOf(std::string_view line, Face face,
                                       const protocol::Texts& of_extensions) {
  std::vector<std::string> found;
  if (!line.starts_with('/')) return found;
  line.remove_prefix(1);
  for (const std::string_view name : NamesFor(face, of_extensions))
    if (name.starts_with(line)) found.emplace_back(name);
  return found;
}

}  // namespace stet::client
