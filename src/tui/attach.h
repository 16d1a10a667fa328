// `stet attach [SESSION]`: takes part in a session of the background host, as others may at the
// same time. What was seen of it the last time is shown at once. A session that another process
// works on is only watched.
#pragma once

#include "base/result.h"
#include "face/clients.h"
#include "face/console.h"
#include "face/work_options.h"

namespace stet::tui {

/// The exit code, or why it failed. `resume` is the session as it was typed; empty: the newest of
/// the folder. The host is reached, or started, when something is shown already.
Result<int> RunAttach(const face::WorkOptions& options, const face::Clients& clients,
                      face::Console& console);

}  // namespace stet::tui
