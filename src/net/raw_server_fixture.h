// RawServer: a server of bytes on loopback, for tests of what speaks HTTP. A handler, in a thread,
// is given one connection after the other and does with it what the test wants.
//
// Destroying the server ends the connection at hand and joins the thread.
#pragma once

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"

namespace stet::net {

/// Something that happens once, awaited by another thread.
class Signal {
 public:
  void Give() {
    {
      const std::lock_guard lock(mutex_);
      given_ = true;
    }
    changed_.notify_all();
  }
  /// False when it does not come within half a minute.
  [[nodiscard]] bool Await() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

/// The server's end of a connection.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}

  [[nodiscard]] int fd() const { return fd_; }

  /// The next request, with its body; empty when the client is gone.
  std::string ReadRequest() {
    std::size_t length = 0;
    while ((length = RequestLength()) == 0) {
      if (!ReadMore()) return "";
    }
    std::string request = received_.substr(0, length);
    received_.erase(0, length);
    return request;
  }

  /// False when the client did not take it.
  [[nodiscard]] bool Write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Until the client closes the connection.
  void AwaitClose() {
    while (ReadMore()) received_.clear();
  }

 private:
  bool ReadMore() {
    char buffer[16384];
    const ssize_t got = ::recv(fd_, buffer, sizeof(buffer), 0);
    if (got > 0) received_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }

  /// 0 while the request is not whole.
  [[nodiscard]] std::size_t RequestLength() const {
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t head = received_.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    std::size_t length = 0;
    const std::size_t at = received_.find(kLength);
    if (at < head)
      std::from_chars(received_.data() + at + kLength.size(), received_.data() + head, length);
    length += head + 4;
    return received_.size() < length ? 0 : length;
  }

  int fd_;
  std::string received_;
};

class RawServer {
 public:
  using Handler = std::function<void(Peer&)>;

  explicit RawServer(Handler handler)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), handler_(std::move(handler)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_.get(), any, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~RawServer() { Stop(); }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  /// Ends the connection at hand; the server does not listen afterwards.
  void Stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      ::shutdown(listener_.get(), SHUT_RDWR);
      if (current_ >= 0) ::shutdown(current_, SHUT_RDWR);
    }
    thread_.join();
    listener_.reset();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string Url(std::string_view scheme = "http") const {
    return fmt::format("{}://127.0.0.1:{}/path", scheme, port_);
  }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void Serve() {
    while (true) {
      const Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!connection || !Enter(connection.get())) return;
      ++connections_;
      Peer peer(connection.get());
      handler_(peer);
      const std::lock_guard lock(mutex_);
      current_ = -1;
    }
  }

  bool Enter(int fd) {
    const std::lock_guard lock(mutex_);
    current_ = fd;
    return !stopping_;
  }

  Fd listener_;
  Handler handler_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  int current_ = -1;  // Open while it is not -1.
  bool stopping_ = false;
  std::thread thread_;
};

/// A whole reply of status 200.
inline std::string ReplyWith(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

}  // namespace stet::net
