// RemoteThread: a connection to a host on a thread of its own, for faces that wait for what they
// ask.
//
// Ask, Call and Run are for any thread but that one. Every wait ends: each request has its
// deadline.
#pragma once

#include <functional>
#include <future>
#include <utility>

#include "base/loop_thread.h"
#include "base/random.h"
#include "client/call.h"

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
  /// To be used on the thread only: in Run.
  Connection& connection() { return connection_; }

  /// Waits for what `work` gives there.
  template <class Work>
  auto Run(Work work) {
    return thread_.Call(std::move(work));
  }

  /// Waits for the host's answer.
  Result<Raw> Ask(Request request) {
    std::promise<Result<Raw>> promise;
    std::future<Result<Raw>> future = promise.get_future();
    thread_.loop().Post([&] {
      connection_.Ask(std::move(request),
                      [&](Result<Raw> answer) { promise.set_value(std::move(answer)); });
    });
    return future.get();
  }

  /// Waits for the reply to M. `there`, if any, sees it first, on the thread, before anything that
  /// the host said after it is handed on.
  template <protocol::IsMethod M>
  Replied<M> Call(const typename M::Params& params, const CallOptions& options,
                  const std::function<void(const Replied<M>&)>& there = {}) {
    std::promise<Replied<M>> promise;
    std::future<Replied<M>> future = promise.get_future();
    thread_.loop().Post([&] {
      client::Call<M>(connection_, params, options, [&](Replied<M> reply) {
        if (there) there(reply);
        promise.set_value(std::move(reply));
      });
    });
    return future.get();
  }

 private:
  LoopThread thread_;
  Random random_;
  Connection connection_;
};

}  // namespace stet::client
