// A session's events as people read them.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "protocol/event.h"

namespace stet::cli {

/// The event's part of the transcript, ending in a blank line; empty for events that are not part
/// of one.
std::string TranscriptText(const protocol::Event& event, const Terminal& terminal);

}  // namespace stet::cli
