// Reattach: what a model must not lose sight of when its conversation is compacted.
#pragma once

#include <cstddef>

#include "agent/workbench.h"
#include "context/retelling.h"

namespace stet::agent {

/// Appends what runs in the background, always; and within about `max_bytes`: the list of things to
/// do and the plan, when they were left out; the files that were changed last, as they are now.
Status Reattach(Workbench& bench, const protocol::Stamp& stamp, const context::Retelling& left_out,
                std::size_t max_bytes);

}  // namespace stet::agent
