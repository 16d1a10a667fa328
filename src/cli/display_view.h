// A session's events as people read them, on a terminal.
#pragma once

#include <string>

#include "face/console.h"
#include "protocol/display.h"

namespace stet::cli {

/// The row's part of the transcript, ending in a blank line; empty for what is hidden.
std::string DisplayText(const protocol::DisplayRow& row, const face::Console& console);

}  // namespace stet::cli
