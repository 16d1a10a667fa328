// Resume: what the first writer does about a session that was left in the middle of something.
#pragma once

#include "log/log.h"

namespace stet::agent {

/// Answers the calls that have no result, by what the log says of them (not run, interrupted, may
/// have run; for a file, whether it was written), and ends the turn that was under way as
/// interrupted. Nothing is run again. Does nothing at a rest point.
Status SettleInterrupted(log::Log& log);

}  // namespace stet::agent
