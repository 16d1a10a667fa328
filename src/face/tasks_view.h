// Background tasks, as people read about them. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "protocol/tasks.h"

namespace stet::face {

/// A table with a line for each, narrower than `columns`.
std::string TasksText(const protocol::TaskRows& rows, std::size_t columns, Millis now);

/// All that is known of one.
std::string TaskText(const protocol::TaskRow& row, Millis now);

/// "exit 1", "signal 9", or which process has it; empty: nothing to say yet.
std::string HowEnded(const protocol::TaskRow& row);

}  // namespace stet::face
