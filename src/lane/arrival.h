// Arrival: the first opening, on this device, of a log that was written elsewhere: imported,
// copied, or by an older version that left no mark. Its history counts, and nothing in it acts.
#pragma once

#include <string>

#include "base/result.h"

namespace stet::log {
class Log;
}

namespace stet::lane {

/// Empties the log's queues, so that what was queued elsewhere is not sent from here, and says for
/// the user what does not count. The mode is none of ours before.
Result<std::string> TakeIn(log::Log& log);

}  // namespace stet::lane
