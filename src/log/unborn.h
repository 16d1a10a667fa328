// Unborn: a folder in which a session was to be made by a process that died before the log was
// there. It is no session: nothing was ever said in it, and its id may be used.
#pragma once

#include "base/result.h"
#include "log/paths.h"

namespace stet::log {

/// Whether the folder has no log, or one without a byte, and nothing else than what its maker and
/// those who tried to open it leave: the lock and diagnostics. One in which a session is just being
/// made is so as well, for a moment, and held. A session that has lost its log is not.
bool IsUnborn(const Paths& paths);

/// Removes such a folder, under its lock; does nothing with any other. kBusy when a session is just
/// being made in it.
Status RemoveUnborn(const Paths& paths);

}  // namespace stet::log
