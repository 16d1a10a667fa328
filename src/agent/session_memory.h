// Session memory: a summary of the session so far that the auxiliary model keeps up between turns.
// When it is fresh, a compaction uses it and asks no model at all.
#pragma once

#include <optional>
#include <string>

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"

namespace stet::agent {

struct SessionMemory {
  log::Ordinal through = log::kNone;  // The last event that it covers: a rest point.
  std::string text;
};

/// The newest that holds on the path to the leaf.
Result<std::optional<SessionMemory>> FindMemory(const log::Log& log);

/// Brings it up to the leaf, if enough was said since. The lane is at rest when this is called, and
/// may go on meanwhile. Whatever goes wrong leaves the memory as it was.
Async<void> UpdateMemory(Workbench& bench, CancelToken cancel);

}  // namespace stet::agent
