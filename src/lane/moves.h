// Moves of a session's leaf, and what stands before it. The session is at rest.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/log.h"
#include "protocol/session.h"

namespace stet::lane {

/// See log::Log::Rewind.
Result<protocol::Moved> RewindLeaf(log::Log& log, const std::optional<std::string>& target);
/// See log::Log::Branch.
Result<protocol::Moved> BranchLeaf(log::Log& log, const std::string& leaf);
/// Gives calls that a dead process left open at this leaf their results.
Status SettleLeaf(log::Log& log);

/// The last events of the path to the leaf, at most `count`, in its order.
Result<std::vector<protocol::Event>> RecentEvents(const log::Log& log, std::size_t count);

}  // namespace stet::lane
