// Arbitrary bytes from a peer of a live server: as HTTP, or as what follows the upgrade to a
// WebSocket, with compression or without. Every connection ends, and what is handed over is sound.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/loop.h"
#include "base/result.h"
#include "base/utf8.h"
#include "rpc/limits.h"

namespace stet::fuzz {
namespace {

constexpr std::string_view kUpgrade =
    "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
constexpr std::string_view kDeflate = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

/// A server that answers everything; one for all inputs.
class Target {
 public:
  Target() {
    auto server = rpc::ListenWith(loop_, {.address = "127.0.0.1"}, Events(),
                                  rpc::Limits{.compress_loopback = true});
    CHECK(server, "loopback can be listened on");
    server_ = *std::move(server);
    const std::string address = server_->address();
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

  /// Sends `bytes`, after `upgrade` was answered if it is there, and waits for the end.
  void Feed(std::string_view upgrade, std::string_view bytes) {
    const Fd peer = Connect();
    bool late = false;
    Timer deadline(loop_);
    deadline.Start(std::chrono::seconds(10), [&] {
      late = true;
      loop_.Stop();
    });
    FdWatch watch(loop_, peer.get(), [&](bool readable, bool) {
      char sink[65536];
      if (readable && ::recv(peer.get(), sink, sizeof(sink), MSG_DONTWAIT) <= 0)
        return loop_.Stop();
      if (readable) return watch.Want(true, !bytes.empty());
      const ssize_t sent =
          ::send(peer.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : bytes.size());
      if (!bytes.empty()) return;
      ::shutdown(peer.get(), SHUT_WR);
      watch.Want(true, false);
    });
    if (!upgrade.empty()) (void)::send(peer.get(), upgrade.data(), upgrade.size(), MSG_NOSIGNAL);
    watch.Want(true, upgrade.empty());
    loop_.Run();
    CHECK(!late, "a connection whose peer is gone ends");
    channels_.clear();
  }

 private:
  [[nodiscard]] Fd Connect() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    Fd peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    CHECK(::connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
          "the server listens");
    return peer;
  }

  rpc::ServerEvents Events() {
    return {.admit =
                [](const rpc::HttpRequest& request) {
                  CHECK(IsValidUtf8(request.path), "a path is text");
                  CHECK(request.body.empty(), "nobody is admitted for a body");
                  return Status();
                },
            .channel = [this](std::unique_ptr<rpc::Channel> channel,
                              const rpc::Peer&) { Echo(std::move(channel)); },
            .request =
                [this](rpc::HttpRequest request, std::unique_ptr<rpc::HttpReply> reply) {
                  CHECK(request.body.size() <= rpc::kMaxFrame, "a body is bounded");
                  if (!request.path.starts_with("/s"))
                    return reply->Send(200, {{"X", request.query}}, request.path);
                  auto stream = reply->Stream(200, {});
                  stream->Start({});
                  stream->Send(request.path);
                  stream->Close("");
                  channels_.push_back(std::move(stream));
                }};
  }

  void Echo(std::unique_ptr<rpc::Channel> channel) {
    rpc::Channel* raw = channel.get();
    channels_.push_back(std::move(channel));
    raw->Start({.frame =
                    [raw](std::string_view frame) {
                      CHECK(IsValidUtf8(frame), "a frame is text");
                      CHECK(frame.size() <= rpc::kMaxFrame, "a frame is bounded");
                      raw->Send(std::string(frame));
                    },
                .closed =
                    [this, raw](const Error&) {
                      std::erase_if(channels_, [&](const auto& one) { return one.get() == raw; });
                    }});
  }

  Loop loop_;
  std::vector<std::unique_ptr<rpc::Channel>> channels_;
  std::unique_ptr<rpc::Server> server_;
  std::uint16_t port_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto& target = *new Target;
  if (size < 2) return 0;
  std::string upgrade;
  if ((data[0] & 1) != 0) upgrade += kUpgrade;
  if ((data[0] & 3) == 3) upgrade += kDeflate;
  if (!upgrade.empty()) upgrade += "\r\n";
  target.Feed(upgrade, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}

}  // namespace stet::fuzz
