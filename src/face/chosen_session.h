// Which session a command means.
#pragma once

#include <string>

#include "base/result.h"
#include "client/sessions.h"

namespace stet::face {

/// The session that `typed` names, or, when that is empty, the newest of the folder `cwd` (empty:
/// this folder). kNotFound when there is none.
Result<std::string> ChosenSession(const std::string& typed, const std::string& cwd,
                                  client::Sessions& sessions);

}  // namespace stet::face
