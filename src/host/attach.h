// Attach: from what a face asks for to a lane that is ready: configuration, model, rules, the
// session's log, and what it was started with before.
#pragma once

#include <memory>

#include "client/live.h"
#include "config/roots.h"
#include "host/lane.h"

namespace stet::host {

/// On the loop's thread. `watcher` hears everything from the opening on, through `subscription`.
Result<std::unique_ptr<Lane>> OpenLane(const config::Roots& roots, const protocol::Attach& attach,
                                       Loop& loop, ModelAccess& models, client::Watcher watcher,
                                       log::Subscription& subscription);

}  // namespace stet::host
