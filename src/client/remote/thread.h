// RemoteThread: a connection to a host on a thread of its own.
#pragma once

#include <functional>
#include <utility>

#include "base/loop_thread.h"
#include "base/random.h"
#include "client/connection.h"

namespace stet::client {

class RemoteThread {
 public:
  /// Dials at once. `seed` is for names and for how long to wait between attempts.
  RemoteThread(std::uint64_t seed, ConnectionOptions options)
      : random_(seed), connection_(thread_.loop(), random_, std::move(options)) {
    thread_.Start();
  }
  /// What was asked is kCancelled; what hears of that runs on the thread.
  ~RemoteThread() {
    Run([this] { connection_.Close({Code::kCancelled, "the connection was closed"}); });
    thread_.Stop();
  }
  RemoteThread(const RemoteThread&) = delete;
  RemoteThread& operator=(const RemoteThread&) = delete;

  Loop& loop() { return thread_.loop(); }
  /// To be used on the thread only.
  Connection& connection() { return connection_; }

  [[nodiscard]] bool is_current() const { return thread_.is_current(); }

  /// Has `work` done there before it returns, from any thread. The thread waits for no host, so
  /// that is at once.
  void Run(const std::function<void()>& work) {
    if (thread_.is_current()) return work();
    thread_.Call([&] {
      work();
      return true;
    });
  }

 private:
  LoopThread thread_;
  Random random_;
  Connection connection_;
};

}  // namespace stet::client
