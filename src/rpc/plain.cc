// TCP and unix sockets.
#include <algorithm>

#include <netinet/tcp.h>

#include "base/loop_context.h"
#include "rpc/dialing.h"
#include "rpc/http_connection.h"

namespace stet::rpc {

Error ErrorOf(const error_code& error) {
  if (error == beast::error::timeout)
    return {Code::kTimeout, "the other side does not answer any more"};
  if (error == http::error::end_of_stream || error == http::error::partial_message)
    return {Code::kUnavailable, "the connection is gone"};
  const bool broken = error.category() == make_error_code(websocket::error::closed).category() ||
                      error.category() == make_error_code(http::error::bad_field).category() ||
                      error.category() == make_error_code(beast::zlib::error::general).category();
  if (broken) return {Code::kInvalid, "the other side broke the rules: " + error.message()};
  return {Code::kUnavailable, "the connection is gone: " + error.message()};
}

int StatusOf(const error_code& error) {
  if (error == http::error::end_of_stream) return 0;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::bad_version) return 505;
  const bool is_http = error.category() == make_error_code(http::error::bad_field).category();
  return is_http ? 400 : 0;
}

Result<HttpRequest> RequestOf(const Parser& parser, const Peer& peer) {
  const auto& message = parser.get();
  ASSIGN_OR_RETURN(Target target, ParseTarget(View(message.target())));
  HttpRequest request{.peer = peer,
                      .method = std::string(View(message.method_string())),
                      .path = std::move(target.path),
                      .query = std::move(target.query)};
  int hosts = 0;
  for (const auto& field : message) {
    std::string name(View(field.name_string()));
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    if (name == "host") ++hosts;
    request.headers.emplace_back(std::move(name), std::string(View(field.value())));
  }
  // `admit` decides by the host: it must not see another one than a proxy in front of us saw.
  if (hosts > 1 || (hosts == 0 && message.version() >= 11))
    return Fail(Code::kInvalid, "the request must name one host");
  return request;
}

std::optional<Socket> Adopt(Loop& loop, Fd fd, const Peer& peer) {
  Socket socket(LoopContext::Of(loop));
  const int family = peer.local ? AF_UNIX : peer.address.starts_with('[') ? AF_INET6 : AF_INET;
  error_code error;
  (void)socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (error) return std::nullopt;
  (void)fd.release();
  return socket;
}

void ServePlain(const std::shared_ptr<Serving>& serving, Fd fd, Peer peer) {
  std::optional<Socket> socket = Adopt(serving->loop, std::move(fd), peer);
  if (!socket) return;
  std::make_shared<HttpConnection<Socket>>(serving, *std::move(socket), std::move(peer))
      ->ReadHead();
}

Status Reaching::Begin(const Endpoint& endpoint) {
  name_ = EndpointText(endpoint);
  Addresses addresses;
  if (!endpoint.unix_path.empty()) {
    if (endpoint.unix_path.size() >= sizeof(sockaddr_un::sun_path))
      return Fail(Code::kInvalid, "the path " + name_ + " is too long for a socket");
    addresses.emplace_back(asio::local::stream_protocol::endpoint(endpoint.unix_path));
    Connect(std::move(addresses));
    return {};
  }
  if (endpoint.host == "localhost") {  // By definition; a machine need not have it in /etc/hosts.
    addresses.emplace_back(
        asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), endpoint.port));
    addresses.emplace_back(
        asio::ip::tcp::endpoint(asio::ip::address_v6::loopback(), endpoint.port));
    Connect(std::move(addresses));
    return {};
  }
  error_code no_address;
  const asio::ip::address address = asio::ip::make_address(endpoint.host, no_address);
  if (!no_address) {
    addresses.emplace_back(asio::ip::tcp::endpoint(address, endpoint.port));
    Connect(std::move(addresses));
    return {};
  }
  resolver_.async_resolve(
      endpoint.host, std::to_string(endpoint.port),
      [self = shared_from_this()](const error_code& error, const Resolver::results_type& found) {
        if (error) return self->Finish(error);
        Addresses all;
        for (const auto& entry : found) all.emplace_back(entry.endpoint());
        if (self->done_) self->Connect(std::move(all));
      });
  return {};
}

void Reaching::Connect(Addresses addresses) {
  const auto kept = std::make_shared<const Addresses>(std::move(addresses));
  asio::async_connect(socket_, *kept,
                      [self = shared_from_this(), kept](const error_code& error, const auto&) {
                        self->Finish(error);
                      });
}

void Reaching::Finish(const error_code& error) {
  const Done done = std::exchange(done_, nullptr);
  if (!done) return;
  if (error)
    return done(Fail(error == asio::error::access_denied ? Code::kDenied : Code::kUnavailable,
                     fmt::format("cannot connect to {}: {}", name_, error.message())));
  const int on = 1;  // Has no effect on a unix socket.
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  done(std::move(socket_));
}

void Reaching::Abort() {
  done_ = nullptr;
  resolver_.cancel();
  error_code ignored;
  (void)socket_.close(ignored);
}

namespace {

class PlainAttempt final : public Attempt {
 public:
  PlainAttempt(Loop& loop, const Endpoint& endpoint, const Limits& limits, Dialed done)
      : dialing_(std::make_shared<Dialing<Socket>>(loop, endpoint, limits, std::move(done))),
        reaching_(std::make_shared<Reaching>(loop, [dialing = dialing_](Result<Socket> socket) {
          if (!socket) return dialing->Give(std::unexpected(std::move(socket).error()));
          dialing->Shake(*std::move(socket));
        })) {}
  PlainAttempt(const PlainAttempt&) = delete;
  PlainAttempt& operator=(const PlainAttempt&) = delete;
  ~PlainAttempt() override {
    reaching_->Abort();
    dialing_->Abort();
  }

  Status Begin() { return reaching_->Begin(dialing_->endpoint()); }

 private:
  std::shared_ptr<Dialing<Socket>> dialing_;
  std::shared_ptr<Reaching> reaching_;
};

}  // namespace

Result<std::unique_ptr<Attempt>> DialPlain(Loop& loop, const Endpoint& endpoint,
                                           const Limits& limits, Dialed done) {
  auto attempt = std::make_unique<PlainAttempt>(loop, endpoint, limits, std::move(done));
  RETURN_IF_ERROR(attempt->Begin());
  return attempt;
}

}  // namespace stet::rpc
