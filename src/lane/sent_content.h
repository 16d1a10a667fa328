// What a client sends, as the content of a message: its text, the images that came with it, and
// those that the text mentions. Images become blobs of the session.
#pragma once

#include <string>

#include "base/result.h"
#include "log/index.h"
#include "protocol/content.h"
#include "protocol/live.h"

namespace stet::log {
class Log;
}

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

/// Whether there is anything in it.
bool SaysSomething(const protocol::Send& send);

/// Whether the client has sent this before, as the event `before` that has the same id. kConflict
/// when it is another client's, or says something else: that would be lost without a word.
Status IsSentAgain(const log::Log& log, log::Ordinal before, const protocol::Send& send,
                   const std::string& client_id);

/// kInvalid when an image is none, or too large.
Result<protocol::Blocks> ContentOf(agent::Workbench& bench, const protocol::Send& send);

}  // namespace stet::lane
