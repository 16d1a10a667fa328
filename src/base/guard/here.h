// Here: a command under a guard with our own input, output and terminal, for programs that a person
// starts in front of another one.
#pragma once

#include "base/guard/guard.h"
#include "base/guard/order.h"
#include "base/result.h"

namespace stet::guard {

/// Waits for its end, and says how that was. In our session and group: a terminal's keys are meant
/// for the command, and it is for the caller not to be ended by them.
Result<News> RunHere(const Order& order);

}  // namespace stet::guard
