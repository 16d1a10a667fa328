// Proxy: an HTTP proxy that lets a command reach the hosts of its profile and no others. It is a
// process of its own, so that its waiting blocks no other part of stet: it lives outside of the
// sandbox, as long as the command.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// At most so many connections at once; one more is told 503.
inline constexpr int kMaxProxyConnections = 128;
/// Refusals that are put on record.
inline constexpr int kMaxReportedRefusals = 256;

struct ProxyEnds {
  int control = -1;    // Its listening socket comes through this one (SendDescriptor).
  int report = -1;     // Gets a line for every refusal: "refused HOST:PORT".
  pid_t command = -1;  // It ends with this process.
};

/// Serves until the command has ended. `control`, `report` and 2 are all it keeps open.
[[noreturn]] void ServeProxy(const Texts& hosts, const ProxyEnds& ends);

Status SendDescriptor(int socket, int descriptor);
/// Empty when the other side has closed.
Fd ReceiveDescriptor(int socket);

}  // namespace stet::sandbox
