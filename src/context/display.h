// Display: what an event of each type is to people. One table, as handlers.h is for models; a type
// that it does not name is shown by its name alone.
#pragma once

#include "protocol/display.h"
#include "protocol/event.h"

namespace stet::context {

/// Whole: the face that shows it cuts it to fit, and makes it safe for a terminal.
protocol::DisplayRow ToDisplay(const protocol::Event& event);

}  // namespace stet::context
