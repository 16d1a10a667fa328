// OpenLane: from what a face asks for to a lane that is ready: configuration, model, rules, the
// session's log, and what it was started with before.
#pragma once

#include <functional>
#include <memory>

#include "base/environment.h"
#include "base/result.h"
#include "config/roots.h"
#include "protocol/header.h"
#include "protocol/live.h"

namespace stet {
class Loop;
}

namespace stet::log {
class Log;
}

namespace stet::device {
class ModelAccess;
}

namespace stet::lane {

class Lane;

/// What a lane is opened with. Everything referred to outlives the lane.
struct LaneRequest {
  const config::Roots& roots;
  Loop& loop;
  device::ModelAccess& models;
  const protocol::Attach& attach;
  std::shared_ptr<const Environment> environment;  // Not null; commands get what it is then.
  bool woken = false;
  bool keeps_denials = false;  // What the log says is disallowed stays so; `attach` may add to it.
  /// Of the child session that is to be made: who opens it and why, and the parent's model, which
  /// it has unless Attach says another; null: it is no child.
  const protocol::Header* child = nullptr;
};

/// Called with the log as it was opened: before anything else is appended. A second time, with
/// another log, when the first was given up.
using LogOpened = std::function<void(log::Log&)>;

/// On the loop's thread. Lanes alone calls it. Where it meets damage that the log's index hides, it
/// opens the session once more, by a scan of the log.
Result<std::unique_ptr<Lane>> OpenLane(const LaneRequest& request, const LogOpened& opened);

}  // namespace stet::lane
