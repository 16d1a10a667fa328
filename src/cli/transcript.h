// A session's events as people read them, on a terminal.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "protocol/display.h"

namespace stet::cli {

/// The row's part of the transcript, ending in a blank line; empty for what is hidden.
std::string TranscriptText(const protocol::DisplayRow& row, const Terminal& terminal);

}  // namespace stet::cli
