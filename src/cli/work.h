// What all faces that have work done share: from the command line to a session that is attached.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "client/live.h"

namespace stet::cli {

/// Goes to the folder of the command, too. kNotFound when it names a folder, a file or a session
/// that there is not.
Result<protocol::Attach> AttachOf(const WorkCommand& command, client::Live& live);

/// What is piped in; nothing when stdin is a terminal.
Result<std::string> PipedInput();

}  // namespace stet::cli
