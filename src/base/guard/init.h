// Init: the command's parent, below the guard. In a PID namespace it is the first process.
#pragma once

#include <sys/types.h>

#include "base/guard/box.h"
#include "base/guard/guard.h"
#include "base/guard/order.h"

namespace stet::guard {

/// What the guard hands down.
struct Charge {
  Order order;
  Box* box = nullptr;       // Null: the command is not kept in.
  bool new_session = true;  // Else the command stays in the guard's session and group.
};

/// What gives the processes of a command a namespace.
enum class Apart {
  kNamespace,      // A PID namespace, by our own right.
  kUserNamespace,  // The same inside of a user namespace.
  kNone,
};

/// Starts it. -1 when this way is not given here; then nothing of it is left.
pid_t StartInit(Charge& charge, Apart apart, int signal_fd);

/// A word to the process that the guard works for.
void Say(News::Kind kind, std::int32_t value);

/// The box was not made: it is told why as if the command had been started and said so.
void SayRefused(const Error& why);

/// The command's input, output and folder are its own: the other ends must see when it drops them.
void LetGo();

}  // namespace stet::guard
