// A tool call as an editor shows it: its kind, a title, the places it is about, the change that it
// makes. Pure; whatever the arguments are, there is an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/view.h"
#include "json/writer.h"

namespace stet::acp {

/// A word of the protocol: read, edit, execute, ...
std::string_view KindOf(std::string_view tool);

/// One line.
std::string TitleOf(const std::string& tool, const Raw& args);

struct Location {
  std::string path;  // Absolute.
  std::optional<std::int64_t> line;

  friend bool operator==(const Location&, const Location&) = default;
};
using Locations = std::vector<Location>;

/// Relative paths are of `cwd`.
Locations LocationsOf(const std::string& tool, const Raw& args, std::string_view cwd);

struct FileDiff {
  std::string path;                     // Absolute.
  std::optional<std::string> old_text;  // Absent: the file is new, or what it was is not known.
  std::string new_text;

  friend bool operator==(const FileDiff&, const FileDiff&) = default;
};
using FileDiffs = std::vector<FileDiff>;

/// What Edit and Write would change, by their arguments: of Edit the parts, of Write the whole.
/// None for other tools.
FileDiffs DiffsOf(const std::string& tool, const Raw& args, std::string_view cwd);

// Elements of a tool call's content, and its locations as an array.
void WriteDiff(JsonWriter& writer, const FileDiff& diff);
void WriteTextContent(JsonWriter& writer, std::string_view text);
void WriteTerminal(JsonWriter& writer, std::string_view terminal_id);
void WriteLocations(JsonWriter& writer, const Locations& locations);

/// TodoWrite's arguments as a plan update; empty when they are none.
std::string PlanUpdate(const Raw& args);

}  // namespace stet::acp
