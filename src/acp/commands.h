// Slash commands in an editor: what those of the table (client/commands.h) that are for ACP, and
// those of extensions, do there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/commands.h"
#include "client/inbox.h"
#include "client/live.h"
#include "json/writer.h"

namespace stet::acp {

/// The table's rows for ACP, then the commands of extensions, as an array.
void WriteCommands(JsonWriter& writer, const protocol::Texts& of_extensions);

/// What came of it: something to show, or a turn that runs now.
struct CommandDone {
  std::string text;
  std::optional<std::string> turn_id;
};

using CommandResult = std::move_only_function<void(Result<CommandDone>)>;

/// Where a command is run.
struct CommandPlace {
  client::LiveSession& session;
  client::Inbox& inbox;  // Through which the session answers.
};

/// `line` is a command of the table or of an extension. `done` hears what came of it, once, now or
/// when the inbox has the session's answer.
void RunCommand(const client::ParsedLine& line, const CommandPlace& place, CommandResult done);

}  // namespace stet::acp
