// LossyLink: a proxy in front of a host's socket that treats its connections badly: it delays and
// splits what it carries, cuts lines at any byte, and shuts one direction only. What it carries is
// never changed or reordered: that is the system's promise, not ours.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/random.h"

namespace stet::test {

class LossyLink {
 public:
  LossyLink(std::string path, std::string target, std::uint64_t seed)
      : path_(std::move(path)), target_(std::move(target)), seed_(seed) {
    listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = AddressOf(path_);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    accepting_ = std::thread([this] { Accept(); });
  }
  ~LossyLink() {
    ending_ = true;
    accepting_.join();
    for (std::thread& line : lines_) line.join();
  }

  /// From now on lines hold.
  void Mend() { mended_ = true; }
  [[nodiscard]] int cuts() const { return cuts_; }

 private:
  static constexpr int kTick = 20;

  static sockaddr_un AddressOf(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }

  void Accept() {
    while (!ending_) {
      pollfd wanted{listener_.get(), POLLIN, 0};
      if (::poll(&wanted, 1, kTick) <= 0) continue;
      Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      Fd host(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_un address = AddressOf(target_);
      if (::connect(host.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        continue;
      lines_.emplace_back([this, seed = ++seed_, a = std::move(client), b = std::move(host)] {
        Carry(seed, a, b);
      });
    }
  }

  /// Until the line is cut or its ends have closed.
  void Carry(std::uint64_t seed, const Fd& client, const Fd& host) {
    Random random(seed);
    // How much a line carries before something happens to it.
    std::uint64_t left = 200 + random.Below(random.Below(3) == 0 ? 2000 : 300'000);
    bool open[2] = {true, true};
    std::vector<char> buffer(8192);
    while (!ending_ && (open[0] || open[1])) {
      pollfd ends[2] = {{open[0] ? client.get() : -1, POLLIN, 0},
                        {open[1] ? host.get() : -1, POLLIN, 0}};
      if (::poll(ends, 2, kTick) <= 0) continue;
      for (int from = 0; from < 2; ++from) {
        if (!open[from] || ends[from].revents == 0) continue;
        const Fd& to = from == 0 ? host : client;
        const std::size_t most = mended_ ? buffer.size() : 1 + random.Below(buffer.size());
        const ssize_t got = ::read(ends[from].fd, buffer.data(), most);
        if (got <= 0) {
          open[from] = false;
          ::shutdown(to.get(), SHUT_WR);
          continue;
        }
        if (!mended_ && static_cast<std::uint64_t>(got) >= left) {
          ++cuts_;
          if (random.Below(3) != 0) return;
          // Half of it: one end hears no more, the other still does for a while.
          open[from] = false;
          ::shutdown(to.get(), SHUT_WR);
          left = 1 + random.Below(20'000);
          continue;
        }
        left -= mended_ ? 0 : static_cast<std::uint64_t>(got);
        if (!mended_ && random.Below(20) == 0)
          ::usleep(static_cast<useconds_t>(random.Below(5000)));
        if (!WriteWhole(to.get(), buffer.data(), static_cast<std::size_t>(got))) return;
      }
    }
  }

  static bool WriteWhole(int fd, const char* bytes, std::size_t size) {
    while (size > 0) {
      const ssize_t put = ::send(fd, bytes, size, MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes += put;
      size -= static_cast<std::size_t>(put);
    }
    return true;
  }

  std::string path_;
  std::string target_;
  std::uint64_t seed_;
  Fd listener_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> mended_ = false;
  std::atomic<int> cuts_ = 0;
  std::vector<std::thread> lines_;
  std::thread accepting_;
};

}  // namespace stet::test
