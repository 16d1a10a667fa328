// Keeper: the process that guards are forked from. It is this program, executed once more at the
// first command that is guarded, so it holds nothing of ours: no keys, no environment, no open
// files. It ends when our end of its socket closes; the guards that it forked do not depend on it.
#pragma once

#include <sys/types.h>

#include "base/fd.h"
#include "base/guard/order.h"
#include "base/result.h"

namespace stet::guard {

/// The descriptors of a command and its guard. They stay the caller's.
struct Ends {
  int in = -1;
  int out = -1;
  int err = -1;
  int control = -1;  // The guard's end.
};

struct Started {
  pid_t pid = -1;  // The guard's. It is no child of ours: only the descriptor says when it ended.
  Fd pidfd;
};

/// Has a guard started, and before that a keeper where there is none. Whether the command itself
/// runs is said over the control socket. Safe from any thread.
Result<Started> StartGuard(const Order& order, const Ends& ends);

/// In a process that was started to be a keeper. `be_guard` is called in each guard, which has its
/// descriptors in their places.
[[noreturn]] void BeKeeper(void (*be_guard)(Order order));

}  // namespace stet::guard
