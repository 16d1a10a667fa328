// Dialing: the way from an endpoint to a channel: the socket, then TLS if the endpoint has it, then
// the hand-shake of the WebSocket.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/loop_context.h"
#include "rpc/attempt.h"
#include "rpc/beast.h"
#include "rpc/http_text.h"
#include "rpc/websocket_link.h"

namespace stet::rpc {

/// A socket that is connected to one of an endpoint's addresses.
class Reaching : public std::enable_shared_from_this<Reaching> {
 public:
  using Done = std::function<void(Result<Socket>)>;

  Reaching(Loop& loop, Done done)
      : socket_(LoopContext::Of(loop)), resolver_(LoopContext::Of(loop)), done_(std::move(done)) {}

  /// kInvalid when the endpoint makes no sense, such as a path that is too long.
  Status Begin(const Endpoint& endpoint);
  /// Ends it; `done` is not called any more.
  void Abort();

 private:
  using Addresses = std::vector<asio::generic::stream_protocol::endpoint>;
  using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

  void Connect(Addresses addresses);
  void Finish(const error_code& error);

  Socket socket_;
  Resolver resolver_;
  Done done_;  // Empty once it was called.
  std::string name_;
};

template <class Stream>
class Dialing : public std::enable_shared_from_this<Dialing<Stream>> {
 public:
  Dialing(Loop& loop, Endpoint endpoint, const Limits& limits, Dialed done)
      : loop_(loop), endpoint_(std::move(endpoint)), limits_(limits), done_(std::move(done)) {}

  /// Over a stream that is connected, and safe where it has to be.
  void Shake(Stream stream) {
    const bool local = !endpoint_.unix_path.empty();
    typename WebSocketLink<Stream>::Options options{.compress = !local, .limits = limits_};
    link_ = std::make_shared<WebSocketLink<Stream>>(loop_, std::move(stream), std::move(options));
    link_->Shake(
        local ? "localhost" : EndpointText(endpoint_), "/ws",
        [self = this->shared_from_this()](const error_code& error) { self->OnShaken(error); });
  }

  void Give(Result<std::unique_ptr<Channel>> channel) {
    if (const Dialed done = std::exchange(done_, nullptr)) done(std::move(channel));
  }

  void Abort() {
    done_ = nullptr;
    if (link_) link_->Abort();
  }

  Loop& loop() { return loop_; }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  void OnShaken(const error_code& error) {
    const auto link = std::exchange(link_, nullptr);
    if (!done_) return;
    if (error == websocket::error::upgrade_declined)
      return Give(std::unexpected(RefusalError(link->status())));
    if (error)
      return Give(std::unexpected(ErrorOf(error).While("dial " + EndpointText(endpoint_))));
    Give(MakeChannel(link));
  }

  Loop& loop_;
  Endpoint endpoint_;
  Limits limits_;
  Dialed done_;  // Empty once it was called, or after Abort.
  std::shared_ptr<WebSocketLink<Stream>> link_;
};

}  // namespace stet::rpc
