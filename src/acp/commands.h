// Slash commands: what a prompt that begins with "/" asks for. Those of stet that make sense in an
// editor, and those of extensions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/result.h"
#include "client/live.h"

namespace stet::acp {

/// All that there are, as an array.
void WriteCommands(JsonWriter& writer, const protocol::Texts& of_extensions);

struct Command {
  std::string name;
  std::string argument;  // Without blanks around.

  friend bool operator==(const Command&, const Command&) = default;
};

/// Nothing when the text is no command that there is: "/usr/bin is full" is a message.
std::optional<Command> ReadCommand(std::string_view text, const protocol::Texts& of_extensions);

/// What came of it: something to show, or a turn that runs now.
struct CommandDone {
  std::string text;
  std::optional<std::string> turn_id;
};

Result<CommandDone> RunCommand(const Command& command, client::LiveSession& session);

}  // namespace stet::acp
