// Live sessions of a host in another process, over its socket.
//
// What is asked is answered by the host, over reconnects, or by its deadline. What cannot be
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
  virtual void Watch(Watched watched, Reply<std::unique_ptr<LiveSession>> reply) = 0;

  /// What the host says of itself, once it does.
  virtual void Welcome(Reply<protocol::Welcome> reply) = 0;
  /// Any method of the wire.
  template <protocol::IsMethod M>
  void Call(const typename M::Params& params, const CallOptions& options,
            Reply<typename M::Reply> reply) {
    Ask(RequestOf<M>(params, options),
        [reply = std::move(reply)](const Result<Raw>& answer) { reply(ReadReply<M>(answer)); });
  }

 private:
  virtual void Ask(Request request, Connection::Done done) = 0;
};

/// Dials at once, on a thread of its own. Every hold must be gone before it.
std::unique_ptr<RemoteLive> MakeRemoteLive(const RemoteOptions& options);

}  // namespace stet::client
