// Attempt: a dialling that is under way. The border between Dial and the files that speak HTTP.
#pragma once

#include <functional>
#include <memory>

#include "base/loop.h"
#include "base/result.h"
#include "rpc/channel.h"
#include "rpc/dial.h"
#include "rpc/limits.h"

namespace stet::rpc {

/// Destroying it ends it without calling back.
class Attempt {
 public:
  virtual ~Attempt() = default;
};

/// Called once, on the loop.
using Dialed = std::function<void(Result<std::unique_ptr<Channel>>)>;

/// plain.cc, tls.cc.
Result<std::unique_ptr<Attempt>> DialPlain(Loop& loop, const Endpoint& endpoint,
                                           const Limits& limits, Dialed done);
Result<std::unique_ptr<Attempt>> DialTls(Loop& loop, const Endpoint& endpoint, const Limits& limits,
                                         Dialed done);

/// As people write it: "a.example:7777", "[::1]:7777", or the path of a unix socket.
std::string EndpointText(const Endpoint& endpoint);

}  // namespace stet::rpc
