// Resume: what the first writer does about a session that was left in the middle of something.
#pragma once

#include "agent/unfinished.h"
#include "log/log.h"

namespace stet::agent {

/// Answers the calls that have no result, by what the log says of them (not run, interrupted, may
/// have run; for a file, whether it was written, which also settles its transaction), withdraws
/// questions that no turn waits for any more, and ends the turn that was under way as interrupted.
/// With `keep_waiting`, calls that only wait for the user's answer are left, and then so is the
/// turn. Nothing is run again. True: the turn still waits.
Result<bool> SettleInterrupted(log::Log& log, const Unfinished& unfinished, bool keep_waiting);

}  // namespace stet::agent
