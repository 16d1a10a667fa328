// Attach: from what a face asks for to a lane that is ready: configuration, model, rules, the
// session's log, and what it was started with before.
#pragma once

#include <functional>
#include <memory>

#include "client/live.h"
#include "config/roots.h"
#include "host/lane.h"

namespace stet::host {

/// What a lane is opened with. Everything referred to outlives the lane.
struct LaneRequest {
  const config::Roots& roots;
  Loop& loop;
  ModelAccess& models;
  const protocol::Attach& attach;
  std::shared_ptr<const Environment> environment;  // Not null; commands get what it is then.
  bool woken = false;
};

/// Called once with the log as it was opened: before anything else is appended.
using LogOpened = std::function<void(log::Log&)>;

/// On the loop's thread.
Result<std::unique_ptr<Lane>> OpenLane(const LaneRequest& request, const LogOpened& opened);

}  // namespace stet::host
