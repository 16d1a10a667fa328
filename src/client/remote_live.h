// Live sessions of a host in another process, over its socket.
//
// What is asked waits for the host, over reconnects, no longer than the options say. What cannot be
// repeated safely and whose answer was lost with the line is kUnavailable and says that it may or
// may not have been done; a send is never doubled, whatever happens. Watchers are called on the
// client's thread: every event once and in order, over reconnects and restarts of the host.
//
// A hold here is only a client: Close, and destroying it, lets go of the session; the host goes on
// with whatever runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/call.h"
#include "client/live.h"
#include "rpc/dial.h"

namespace stet::client {

struct RemoteOptions {
  rpc::Endpoint endpoint;
  std::string token;  // Empty: none, on a unix socket.
  /// "NAME=value" each: what the session's commands and keys are taken from. Sent over a unix
  /// socket only.
  std::optional<std::vector<std::string>> environment = {};
  std::string name = "stet";
  /// Called on the client's thread; must not block and must not call back.
  std::function<void(LinkState, const std::string& why)> on_state = {};
  /// How long a request waits for the host; what takes the host its time waits longer.
  std::chrono::milliseconds patience{30'000};
  Backoff backoff = {};
  std::uint64_t seed = 0;  // 0: from the system.
  Dialer dial = {};        // Empty: dials the endpoint.
};

struct Watched {
  std::string session_id;
  /// So many of the last events of the path come first; absent: all events of the log.
  std::optional<std::int64_t> recent;
  Watcher watcher;
};

class RemoteLive : public Live {
 public:
  /// Hears a session without working on it, as when another process holds it; what is asked of it
  /// beyond that gives the host's errors.
  virtual Result<std::unique_ptr<LiveSession>> Watch(Watched watched) = 0;

  /// What the host says of itself, once it does.
  virtual Result<protocol::Welcome> Welcome() = 0;
  /// Waits for the reply to any method of the wire.
  template <protocol::IsMethod M>
  Replied<M> Call(const typename M::Params& params = {}, const CallOptions& options = {}) {
    return ReadReply<M>(Ask(RequestOf<M>(params, options)));
  }

 private:
  virtual Result<Raw> Ask(Request request) = 0;
};

/// Dials at once, on a thread of its own. Every hold must be gone before it.
std::unique_ptr<RemoteLive> MakeRemoteLive(const RemoteOptions& options);

}  // namespace stet::client
