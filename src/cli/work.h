// What all faces that have work done share: from the command line to a session that is attached.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/arguments.h"
#include "client/live.h"

namespace stet::cli {

/// Goes to the folder of the command, too. kNotFound when it names a folder, a file or a session
/// that there is not.
Result<protocol::Attach> AttachOf(const WorkCommand& command, client::Live& live);

/// What is sent first: the prompt, and behind it what is piped in. With neither, a session that is
/// gone on with continues. kInvalid when there is nothing at all.
Result<protocol::Send> SendOf(const WorkCommand& command);

/// The schema that an answer must fit: of an object, because the answer is a call's arguments.
/// kInvalid says what is wrong with it, naming it `name`.
Result<Raw> CheckOutputSchema(Raw schema, std::string_view name);

}  // namespace stet::cli
