// Proxy: an HTTP proxy on loopback that tunnels (CONNECT) and forwards, one connection after the
// other, and remembers what it was asked for.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "net/raw_server_fixture.h"

namespace stet::test {

class Proxy {
 public:
  enum class Manner {
    kWorks,
    kClosesAtOnce,
    kRefuses,        // With status 403.
    kDiesInTheReply  // After the first bytes of it.
  };

  explicit Proxy(Manner manner = Manner::kWorks)
      : manner_(manner), server_([this](net::Peer& peer) { Serve(peer); }) {}

  [[nodiscard]] std::string Url() const {
    return fmt::format("http://127.0.0.1:{}", server_.port());
  }
  /// The first line of every request.
  [[nodiscard]] std::vector<std::string> Asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  static constexpr std::string_view kScheme = "http://";
  // More than a handshake, less than a long reply.
  static constexpr std::size_t kEnoughOfAReply = 8000;

  void Serve(net::Peer& peer) {
    std::string request = peer.ReadRequest();
    if (request.empty()) return;
    const std::string line = request.substr(0, request.find("\r\n"));
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(line);
    }
    if (manner_ == Manner::kClosesAtOnce) return;
    if (manner_ == Manner::kRefuses) {
      (void)peer.Write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    std::string target = line.substr(line.find(' ') + 1);
    target.resize(target.find(' '));
    const bool tunnel = line.starts_with("CONNECT ");
    if (!tunnel) {
      // "POST http://host:port/path ..." is "POST /path ..." for the server itself.
      target.erase(0, kScheme.size());
      target.resize(target.find('/'));
      request.erase(request.find(kScheme), kScheme.size() + target.size());
    }
    const Fd server = Dial(target);
    if (!server) return;
    net::Peer behind(server.get());
    if (tunnel ? peer.Write("HTTP/1.1 200 Go\r\n\r\n") : behind.Write(request)) Join(peer, behind);
  }

  /// `target` is ADDRESS:PORT.
  static Fd Dial(const std::string& target) {
    const std::size_t colon = target.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(target.substr(colon + 1))));
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::inet_pton(AF_INET, target.substr(0, colon).c_str(), &address.sin_addr) != 1 ||
        ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      return {};
    return socket;
  }

  /// Carries bytes both ways until one side is gone.
  void Join(const net::Peer& client, const net::Peer& server) const {
    std::array<pollfd, 2> ends{{{.fd = client.fd(), .events = POLLIN, .revents = 0},
                                {.fd = server.fd(), .events = POLLIN, .revents = 0}}};
    std::size_t replied = 0;
    while (::poll(ends.data(), ends.size(), -1) > 0) {
      for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].revents == 0) continue;
        std::array<char, 4096> buffer;
        const ssize_t got = ::recv(ends[i].fd, buffer.data(), buffer.size(), 0);
        if (got <= 0) return;
        const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
        if (!(i == 0 ? server : client).Write(bytes)) return;
        if (i == 1) replied += bytes.size();
      }
      if (manner_ == Manner::kDiesInTheReply && replied > kEnoughOfAReply) return;
    }
  }

  const Manner manner_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  net::RawServer server_;  // Last: its thread uses the others.
};

}  // namespace stet::test
