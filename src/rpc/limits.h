// Limits: how long a peer may take over what, and how many there may be. Tests make them small.
#pragma once

#include <chrono>
#include <memory>

#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "base/result.h"
#include "rpc/channel.h"
#include "rpc/dial.h"
#include "rpc/server.h"

namespace stet::rpc {

struct Limits {
  std::chrono::milliseconds head = kHeadTime;    // For the head of a request, and hand-shakes.
  std::chrono::milliseconds body = kSilence;     // For the body of a request, and to take a reply.
  std::chrono::milliseconds silence = kSilence;  // Of a channel; between two requests.
  std::chrono::milliseconds dial = std::chrono::seconds(10);
  std::size_t connections = kConnections;  // On the unix socket.
  std::size_t far_connections = 512;       // On TCP; neither takes from the other.
  std::size_t unproven_connections = 64;   // On TCP, of peers that nobody has let in yet.
  std::chrono::milliseconds unproven = std::chrono::seconds(15);  // For one of those to be let in.
  bool compress_loopback = false;  // It costs more there than it saves.
};

/// Server::Listen with other limits.
Result<std::unique_ptr<Server>> ListenWith(Loop& loop, const ListenOptions& options,
                                           ServerEvents events, const Limits& limits);

/// Dial with other limits.
Async<Result<std::unique_ptr<Channel>>> DialWith(Loop& loop, Endpoint endpoint, CancelToken cancel,
                                                 Limits limits);

}  // namespace stet::rpc
