// Dial: a channel to a server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "rpc/channel.h"

namespace stet::rpc {

/// Where a server is: a unix socket, or an address.
struct Endpoint {
  std::string unix_path;
  std::string host;
  std::uint16_t port = 0;
  bool tls = false;
  std::string fingerprint;  // SHA-256 of the certificate in hex, the only one trusted; empty: the
                            // system's authorities.
};

/// kUnavailable when no server listens there, kDenied or kAuth when the server refuses or, with
/// TLS, is not to be trusted, kInvalid when it is no such server, kTimeout after 10 s.
Async<Result<std::unique_ptr<Channel>>> Dial(Loop& loop, Endpoint endpoint, CancelToken cancel);

}  // namespace stet::rpc
