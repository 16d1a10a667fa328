// Turns run in this process: opens or makes the session, joins model, tools and policy, and runs
// the loop until the turn ends.
#pragma once

#include <memory>

#include "client/turns.h"
#include "config/roots.h"

namespace stet::host {

std::unique_ptr<client::Turns> MakeLocalTurns(config::Roots roots);

}  // namespace stet::host
