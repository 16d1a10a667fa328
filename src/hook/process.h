// RunProcess: a program from its start to its end on the loop, with a clock. Whatever it does, the
// task ends soon after its time is up or it is cancelled.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "base/subprocess/subprocess.h"

namespace stet::hook {

struct ProcessEnd {
  enum class How {
    kExited,      // See exit_code.
    kSignal,      // By a signal that we did not send.
    kTimeout,     // Its group was killed because its time was up.
    kCancelled,   // The same because the caller cancelled.
    kNotStarted,  // `err` says why.
  };
  How how = How::kExited;
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Feeds options.stdin_data, keeps the head of both outputs. What the program leaves in the
/// background when it exits by itself is let alone. The loop must outlive the task.
Async<ProcessEnd> RunProcess(Loop& loop, SpawnOptions options, std::chrono::milliseconds timeout,
                             CancelToken cancel);

/// `own` with STET_PROJECT_DIR.
std::vector<std::string> WithProject(std::vector<std::string> own, const std::string& project);

}  // namespace stet::hook
