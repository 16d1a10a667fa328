#include "client/commands.h"

#include <algorithm>
#include <utility>

#include "base/nearest_name.h"
#include "base/text.h"

namespace stet::client {
namespace {

bool IsLetters(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
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
