// RemoteThread: a connection to a host on a thread of its own, for faces that wait for what they
// ask.
//
// Ask and Call are for any thread but that one. Every wait ends: each request has its deadline.
#pragma once

#include <functional>
#include <future>
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
  /// Nobody may still wait.
  ~RemoteThread() { thread_.Stop(); }
  RemoteThread(const RemoteThread&) = delete;
  RemoteThread& operator=(const RemoteThread&) = delete;

  Loop& loop() { return thread_.loop(); }
  /// To be used on the thread only: in Call.
  Connection& connection() { return connection_; }

  /// Waits for what `work` gives there.
  template <class Work>
  auto Call(Work work) {
    return thread_.Call(std::move(work));
  }

  /// Waits for the host's answer. `there`, if any, sees it first, on the thread, before anything
  /// that the host said after it is handed on.
  Result<Raw> Ask(Request request, const std::function<void(const Result<Raw>&)>& there = {}) {
    std::promise<Result<Raw>> promise;
    std::future<Result<Raw>> future = promise.get_future();
    thread_.loop().Post([&] {
      connection_.Ask(std::move(request), [&](Result<Raw> answer) {
        if (there) there(answer);
        promise.set_value(std::move(answer));
      });
    });
    return future.get();
  }

  /// The same, read as a T. kInvalid when the host's answer is none.
  template <class T>
  Result<T> AskFor(Request request) {
    ASSIGN_OR_RETURN(const Raw answer, Ask(std::move(request)));
    Result<T> read = Decode<T>(answer.text);
    if (!read) return std::unexpected(std::move(read).error().While("reading the host's answer"));
    return read;
  }

 private:
  LoopThread thread_;
  Random random_;
  Connection connection_;
};

}  // namespace stet::client
