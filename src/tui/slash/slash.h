// Slash commands in the terminal: what each one of the table (client/commands.h) does there.
#pragma once

#include <string>

#include "client/commands.h"
#include "tui/command_environment.h"

namespace stet::tui {

/// What /help shows: the table's rows for the terminal, the commands of extensions, and the keys.
std::string SlashHelp(const protocol::Texts& of_extensions);

/// Does what the line asks for, and tells what came of it; of an unknown command, that there is
/// none and which one is most like it. `line` is a command: its kind is not kMessage.
void RunSlash(const client::ParsedLine& line, CommandEnvironment& environment);

}  // namespace stet::tui
