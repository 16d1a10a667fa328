// For tests of rpc: a server and its peers on one loop, real sockets, and everything written down.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/loop.h"
#include "base/temp_dir.h"
#include "rpc/limits.h"

namespace stet::rpc {

/// A channel, and what it said.
struct Talk {
  std::unique_ptr<Channel> channel;
  std::vector<std::string> frames;
  int drained = 0;
  std::optional<Error> closed;

  void Start() {
    channel->Start({.frame = [this](std::string_view frame) { frames.emplace_back(frame); },
                    .drained = [this] { ++drained; },
                    .closed = [this](const Error& why) { closed = why; }});
  }
};

/// A peer that speaks bytes.
class RawPeer {
 public:
  RawPeer(Loop& loop, Fd socket)
      : socket_(std::move(socket)),
        watch_(loop, socket_.get(), [this](bool readable, bool) { readable ? Read() : Write(); }) {
    watch_.Want(true, false);
  }

  void Send(std::string_view bytes) {
    out_ += bytes;
    Write();
  }
  /// Nothing more comes from here, once all is sent.
  void HalfClose() { ::shutdown(socket_.get(), SHUT_WR); }
  void StopReading() {
    reads_ = false;
    watch_.Want(false, !out_.empty());
  }

  [[nodiscard]] const std::string& received() const { return received_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool Has(std::string_view text) const { return received_.contains(text); }
  /// Of the first reply.
  [[nodiscard]] int status() const {
    return received_.starts_with("HTTP/1.1 ") ? std::atoi(received_.c_str() + 9) : 0;
  }

 private:
  void Read() {
    char bytes[65536];
    const ssize_t got = ::recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got > 0) {
      received_.append(bytes, static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EAGAIN) {
      ended_ = true;
      watch_.Want(false, false);
    }
  }
  void Write() {
    const ssize_t sent =
        ::send(socket_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN) out_.clear();
    watch_.Want(reads_ && !ended_, !out_.empty());
  }

  Fd socket_;
  std::string out_;
  std::string received_;
  bool reads_ = true;
  bool ended_ = false;
  FdWatch watch_;
};

class RpcTest : public testing::Test {
 protected:
  /// A server on a unix socket and on TCP that admits every peer, keeps channels and requests.
  void Listen(const Limits& limits = Limits(), std::optional<TlsFiles> tls = std::nullopt) {
    ServerEvents events{.admit = [this](const HttpRequest& request) { return admit_(request); },
                        .channel =
                            [this](std::unique_ptr<Channel> channel, const Peer& peer) {
                              peers_.push_back(peer);
                              talks_.push_back(std::make_unique<Talk>());
                              talks_.back()->channel = std::move(channel);
                              on_channel_(*talks_.back());
                            },
                        .request =
                            [this](HttpRequest request, std::unique_ptr<HttpReply> reply) {
                              requests_.push_back(request);
                              on_request_(std::move(request), std::move(reply));
                            }};
    auto server = ListenWith(
        loop_, {.unix_path = path_, .address = address_, .tls = std::move(tls)}, events, limits);
    ASSERT_TRUE(server) << server.error().Text();
    server_ = *std::move(server);
  }

  [[nodiscard]] std::uint16_t port() const {
    const std::string address = server_->address();
    return static_cast<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str()));
  }
  [[nodiscard]] Endpoint Local() const { return {.unix_path = path_}; }
  [[nodiscard]] Endpoint Tcp() const { return {.host = "127.0.0.1", .port = port()}; }

  /// Runs the loop until the condition holds; fails after a minute.
  void RunUntil(const std::function<bool()>& so, std::string_view what) {
    bool late = false;
    Timer deadline(loop_);
    deadline.Start(std::chrono::minutes(1), [&] {
      late = true;
      loop_.Stop();
    });
    Timer look(loop_);
    std::function<void()> again = [&] {
      if (so()) return loop_.Stop();
      look.Start(std::chrono::milliseconds(1), again);
    };
    again();
    loop_.Run();
    ASSERT_FALSE(late) << "it did not happen: " << what;
  }

  Result<std::unique_ptr<Channel>> TryDial(const Endpoint& endpoint,
                                           const Limits& limits = Limits()) {
    return loop_.RunUntilDone(DialWith(loop_, endpoint, CancelToken(), limits));
  }
  std::unique_ptr<Talk> Call(const Endpoint& endpoint, const Limits& limits = Limits()) {
    auto talk = std::make_unique<Talk>();
    auto channel = TryDial(endpoint, limits);
    EXPECT_TRUE(channel) << channel.error().Text();
    if (channel) talk->channel = *std::move(channel);
    return talk;
  }

  std::unique_ptr<RawPeer> Connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    return std::make_unique<RawPeer>(loop_, std::move(socket));
  }
  std::unique_ptr<RawPeer> ConnectTcp() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port());
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    return std::make_unique<RawPeer>(loop_, std::move(socket));
  }
  /// A peer that has opened a WebSocket, and its end at the server.
  std::unique_ptr<RawPeer> Upgraded() {
    const std::size_t before = talks_.size();
    auto peer = Connect();
    peer->Send(kUpgrade);
    RunUntil([&] { return peer->Has("\r\n\r\n") && talks_.size() > before; }, "the upgrade");
    EXPECT_EQ(peer->status(), 101);
    return peer;
  }

  static constexpr std::string_view kUpgrade =
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

  TempDir dir_;
  std::string path_ = dir_.Sub("s");
  std::string address_ = "127.0.0.1";
  Loop loop_;
  std::function<Status(const HttpRequest&)> admit_ = [](const HttpRequest&) { return Status(); };
  std::function<void(Talk&)> on_channel_ = [](Talk& talk) { talk.Start(); };
  std::function<void(HttpRequest, std::unique_ptr<HttpReply>)> on_request_ =
      [](const HttpRequest& request, std::unique_ptr<HttpReply> reply) {
        reply->Send(200, {{"Content-Type", "text/plain"}}, request.method + " " + request.path);
      };
  std::vector<HttpRequest> requests_;
  std::vector<Peer> peers_;
  std::vector<std::unique_ptr<Talk>> talks_;  // The server's.
  std::unique_ptr<Server> server_;
};

}  // namespace stet::rpc
