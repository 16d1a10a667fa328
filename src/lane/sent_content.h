// What a client sends, as the content of a message: its text, the images that came with it, and
// those that the text mentions. Images become blobs of the session.
#pragma once

#include "base/result.h"
#include "protocol/content.h"
#include "protocol/live.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

/// Whether there is anything in it.
bool SaysSomething(const protocol::Send& send);

/// kInvalid when an image is none, or too large.
Result<protocol::Blocks> ContentOf(agent::Workbench& bench, const protocol::Send& send);

}  // namespace stet::lane
