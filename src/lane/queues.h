// The queues of a session: what clients sent while a turn ran. The log has them; each change of one
// is an event with all that remains of it.
#pragma once

#include <string>

#include "base/result.h"
#include "log/log.h"

namespace stet::lane {

/// Adds an item to the queue of steers, or else of follow-ups, and gives its id.
Result<std::string> AddToQueue(log::Log& log, bool steer, protocol::QueueItem item);

/// `items` are all that remain of it, in order; kConflict names one that was taken or removed. An
/// item keeps what it was sent with. Only its words may be others, which are then the words of
/// `client_id`; kInvalid when a changed item is not plain text, or when one stands there twice.
Status RewriteQueue(log::Log& log, const std::string& queue, const protocol::QueueItems& items,
                    const std::string& client_id);

}  // namespace stet::lane
