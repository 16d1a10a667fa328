// What a log says about its run, read from the beginning: for whoever asks now and then.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "log/log.h"
#include "run/capsule.h"
#include "run/state.h"

namespace stet::host {

/// On the path to the leaf.
Result<run::State> ReadRun(const log::Log& log);

/// What a compaction at the leaf would carry across. Reads the files that were read in part.
run::Capsule CapsuleNow(const log::Log& log, const run::State& state, Millis now);

}  // namespace stet::host
