#include "rpc/server.h"

#include <utility>

#include <sys/socket.h>

#include "rpc/http_text.h"
#include "rpc/limits.h"
#include "rpc/listener.h"
#include "rpc/serving.h"

namespace stet::rpc {
namespace {

class ListeningServer final : public Server {
 public:
  ListeningServer(Loop& loop, ServerEvents events, const Limits& limits)
      : serving_(std::make_shared<Serving>(loop, std::move(events), limits)) {}
  ListeningServer(const ListeningServer&) = delete;
  ListeningServer& operator=(const ListeningServer&) = delete;
  ~ListeningServer() override {
    serving_->events.reset();
    for (Connection* connection : serving_->connections) connection->Abort();
  }

  Status Open(const ListenOptions& options) {
    if (options.tls) {
      ASSIGN_OR_RETURN(tls_, MakeTlsServer(*options.tls));
    }
    Listener::Accepted serve = [this](Fd socket, Peer peer) {
      Serve(std::move(socket), std::move(peer));
    };
    if (!options.unix_path.empty()) {
      ASSIGN_OR_RETURN(unix_, Listener::Unix(serving_->loop, options.unix_path, serve));
    }
    if (!options.address.empty()) {
      ASSIGN_OR_RETURN(tcp_, Listener::Tcp(serving_->loop, options.address, options.port, serve));
    }
    return {};
  }

  [[nodiscard]] std::string address() const override { return tcp_ ? tcp_->address() : ""; }

 private:
  void Serve(Fd socket, Peer peer) {
    const bool encrypted = tls_ && !peer.local;
    if (!serving_->HasRoom(peer.local)) {
      if (!encrypted) TurnAway(socket.get());
      return;
    }
    if (encrypted) {
      peer.encrypted = true;
      ServeTls(serving_, tls_, std::move(socket), std::move(peer));
    } else {
      ServePlain(serving_, std::move(socket), std::move(peer));
    }
  }

  static void TurnAway(int socket) {
    const std::string body = RefusalBody(503, "too many connections are open: try again");
    const std::string reply =
        ReplyHead({.status = 503, .length = body.size()}, {{"Content-Type", "application/json"}}) +
        body;
    // Ignoring the error on purpose: whether it hears it or not, it is turned away.
    (void)::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  std::shared_ptr<Serving> serving_;
  std::shared_ptr<TlsServer> tls_;
  std::unique_ptr<Listener> unix_;
  std::unique_ptr<Listener> tcp_;
};

}  // namespace

Result<std::unique_ptr<Server>> ListenWith(Loop& loop, const ListenOptions& options,
                                           ServerEvents events, const Limits& limits) {
  CHECK(events.admit && events.channel && events.request, "a server has all its events");
  auto server = std::make_unique<ListeningServer>(loop, std::move(events), limits);
  RETURN_IF_ERROR(server->Open(options));
  return server;
}

Result<std::unique_ptr<Server>> Server::Listen(Loop& loop, const ListenOptions& options,
                                               ServerEvents events) {
  return ListenWith(loop, options, std::move(events), Limits());
}

}  // namespace stet::rpc
