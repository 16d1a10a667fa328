// Serving: what a server and its connections share; it lives as long as the last of them. The
// border between the server, which listens, and the files that speak HTTP.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/loop.h"
#include "rpc/limits.h"
#include "rpc/server.h"

namespace stet::rpc {

/// A connection that speaks HTTP; it is no channel yet.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Closes the socket; it is gone soon.
  virtual void Abort() = 0;
};

struct Serving {
  Serving(Loop& owner, ServerEvents callbacks, const Limits& bounds)
      : loop(owner),
        events(std::make_shared<const ServerEvents>(std::move(callbacks))),
        limits(bounds) {}

  Loop& loop;
  std::shared_ptr<const ServerEvents> events;  // Null once the server is gone.
  Limits limits;
  std::set<Connection*> connections;
  // Slots that are taken, by connections and the channels made of them.
  std::size_t near_slots = 0;      // On the unix socket.
  std::size_t far_slots = 0;       // On TCP.
  std::size_t unproven_slots = 0;  // Of the latter: of peers that nobody has let in yet.

  [[nodiscard]] bool HasRoom(bool local) const {
    if (local) return near_slots < limits.connections;
    return far_slots < limits.far_connections && unproven_slots < limits.unproven_connections;
  }
};

/// Held as long as the connection lives, as HTTP or as a channel.
class Slot {
 public:
  Slot(std::shared_ptr<Serving> serving, bool local);
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot();

  [[nodiscard]] bool proven() const { return proven_; }
  /// Its peer was let in: it no longer counts among those that may be anybody.
  void Prove();

 private:
  std::shared_ptr<Serving> serving_;
  bool local_;
  bool proven_;
};

/// The server's side of TLS; shared by its connections.
class TlsServer;

/// Takes over a socket that was accepted (plain.cc, tls.cc).
void ServePlain(const std::shared_ptr<Serving>& serving, Fd socket, Peer peer);
void ServeTls(const std::shared_ptr<Serving>& serving, const std::shared_ptr<TlsServer>& tls,
              Fd socket, Peer peer);

/// kInvalid when the files do not hold a certificate and its key.
Result<std::shared_ptr<TlsServer>> MakeTlsServer(const TlsFiles& files);

/// Where the answer to a request goes.
class Answering {
 public:
  virtual ~Answering() = default;
  virtual void Answer(int status, const Headers& headers, std::string body) = 0;
  virtual std::unique_ptr<Channel> AnswerStream(int status, const Headers& headers) = 0;
};

std::unique_ptr<HttpReply> MakeReply(std::shared_ptr<Answering> answering);

}  // namespace stet::rpc
