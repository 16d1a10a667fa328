// LoopThread: a loop on a thread of its own, and how other threads have work done there.
//
// The owner of things that live on the loop makes them before Start and destroys them after Stop.
// Call and Await are for other threads, between the two; they wait without a deadline, so the work
// must have one.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <future>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/async.h"
#include "base/loop.h"

namespace stet {

class LoopThread {
 public:
  LoopThread() = default;
  ~LoopThread() { Stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  Loop& loop() { return loop_; }
  /// Whether the caller is on it.
  [[nodiscard]] bool is_current() const { return std::this_thread::get_id() == id_; }

  /// Signals are for the thread that started it, and for those that ask for them.
  void Start() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    // Signals for the thread's own faults stay unblocked.
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
      ::sigdelset(&all, own);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
      id_ = std::this_thread::get_id();
      loop_.Run();
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  /// What was posted and did not run yet will not run.
  void Stop() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
  }

  /// Waits for what `work` gives.
  template <class Work>
  auto Call(Work work) {
    using T = std::invoke_result_t<Work>;
    std::promise<T> promise;
    std::future<T> future = promise.get_future();
    loop_.Post([&] { promise.set_value(work()); });
    return future.get();
  }

  /// The same for what takes its time there.
  template <class T>
  T Await(std::function<Async<T>()> start) {
    std::promise<T> promise;
    std::future<T> future = promise.get_future();
    auto whole = [](std::function<Async<T>()> begin, std::promise<T>& done) -> Async<void> {
      T value = co_await begin();
      done.set_value(std::move(value));
    };
    loop_.Post([&] { loop_.Spawn(whole(start, promise)); });
    return future.get();
  }

 private:
  Loop loop_;
  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

}  // namespace stet
