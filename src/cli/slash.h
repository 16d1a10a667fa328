// Slash commands: what a line that begins with "/" asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/interactive_desk.h"

namespace stet::cli {

struct Slash {
  std::string name;      // Without the slash.
  std::string argument;  // What is behind it, without blanks around.

  friend bool operator==(const Slash&, const Slash&) = default;
};

/// Nothing when the line is no command: "/usr/bin is full" is a message.
std::optional<Slash> ParseSlash(std::string_view line);

/// The command whose name is most like `name`; empty when none is much like it.
std::string NearestSlash(std::string_view name);

/// Does it, and tells what came of it. One that there is not is said to be so.
void RunSlash(const Slash& slash, Desk& desk);

}  // namespace stet::cli
