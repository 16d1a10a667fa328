// StartThread: a thread of the system's, or the word that it has none left.
//
// This is the one place that catches what std::thread throws: modules above are compiled without
// exceptions (doc/decision/0019-no-exceptions.md), where a throwing constructor ends the process.
#pragma once

#include <functional>
#include <thread>

#include "base/result.h"

namespace stet {

/// Runs `body` in a new thread, which the caller joins or detaches. kUnavailable when there can be
/// no more threads: `body` was not called, and what it held is gone.
Result<std::thread> StartThread(std::move_only_function<void()> body);

}  // namespace stet
