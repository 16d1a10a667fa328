// LiveStateOf: what a client is told of a session that is worked on.
#pragma once

#include "protocol/live.h"

namespace stet::lane {

class LaneWork;
struct LaneParts;

/// All but the notes about how the session was opened.
protocol::LiveState LiveStateOf(const LaneParts& parts, const LaneWork& work);

}  // namespace stet::lane
