// The result of a turn in the members that scripts look for.
#pragma once

#include <string>

#include "protocol/turn_report.h"

namespace stet::cli {

/// One line of JSON, without its end.
std::string ResultJson(const protocol::TurnReport& report);

/// How the process ends that ran the turn.
int ExitCodeOf(const protocol::TurnReport& report);

}  // namespace stet::cli
