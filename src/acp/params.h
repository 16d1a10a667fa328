// What requests of the protocol must bring, checked. Pure but for looking whether folders exist.
#pragma once

#include <string>
#include <string_view>

#include "acp/session/session.h"
#include "base/result.h"
#include "json/view.h"
#include "protocol/live.h"

namespace stet::acp {

// All fail with kInvalid, naming what is wrong.

/// A member that must be a string that says something.
Result<std::string> TextParam(const JsonView& params, std::string_view name);

/// How a session is to be opened: cwd, additionalDirectories and mcpServers, which may be left out
/// only when `servers_required` is false.
Result<protocol::Attach> ReadAttach(const JsonView& params, bool servers_required);

/// What the client says of itself in `initialize`.
ClientTraits ReadTraits(const JsonView& params);

/// The answer to `initialize`. `terminal_login`: the client can run us in a terminal.
std::string InitializeResult(bool terminal_login);

}  // namespace stet::acp
