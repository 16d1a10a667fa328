// Room: what is done before every request so that it fits: a step's results share a budget, old
// results give way, and the conversation is compacted before it is too large. Every decision is an
// event, made once.
#pragma once

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"

namespace stet::agent {

/// All calls of the step before have their results. Fails only when the log cannot be written.
Async<Status> MakeRoom(Workbench& bench, const protocol::Stamp& stamp, CancelToken cancel);

/// What the server counted in the request that was sent last.
/// The conversation is as it was then.
void LearnTokens(Workbench& bench, const protocol::OptionalUsage& usage);

}  // namespace stet::agent
