// What a tool call is about, for people: one line, and the difference that it makes to a file.
#pragma once

#include <cstddef>
#include <string>

#include "face/console.h"
#include "json/json.h"

namespace stet::tui {

/// What of the arguments says most, on one line: the command, the file, the pattern.
std::string CallSummary(const std::string& tool, const Raw& args);

/// What Edit or Write would change, by its arguments: removed lines red, added ones green, at most
/// `max_lines`. Empty for other tools.
std::string ChangeText(const std::string& tool, const Raw& args, const face::Console& console,
                       std::size_t max_lines);

}  // namespace stet::tui
