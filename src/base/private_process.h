// What other processes of the same user could read of this one: its memory, and the environment
// that it was started with, in which keys stand.
#pragma once

namespace stet {

/// From now on no process may trace this one, read its memory or dump its core (but root), and the
/// block of variables that the kernel shows in /proc/PID/environ is empty; getenv(3) finds them as
/// before. Call it first, before there is a second thread. What is started is not concerned.
void MakeProcessPrivate();

}  // namespace stet
