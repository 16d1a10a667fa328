// Reattach: what a model must not lose sight of when its conversation is compacted.
#pragma once

#include <cstddef>
#include <string>

#include "agent/workbench.h"

namespace stet::agent {

/// Appends, within about `max_bytes`: the list of things to do, when it was left out; the files
/// that were changed last, as they are now; what runs in the background.
Status Reattach(Workbench& bench, const protocol::Stamp& stamp, const std::string& todo,
                std::size_t max_bytes);

}  // namespace stet::agent
