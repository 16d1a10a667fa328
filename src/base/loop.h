// Loop: the process's one event loop: work posted from any thread, timers, descriptors, and the
// coroutines that wait for them.
//
// Everything but Post and Stop is for the thread that runs the loop (or before it runs). Callbacks
// run one after the other on that thread and must not block. Timers and watches must die before
// their loop. Nothing here fails, except by the system having no descriptor left, which ends the
// process.
#pragma once

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/async.h"
#include "base/cancel.h"

namespace stet {

class Loop {
 public:
  Loop();
  /// Destroys the coroutines that still wait, and forgets what was posted.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Until Stop, which is remembered when it comes first.
  void Run();
  void Stop();

  /// Destroys the coroutines that still wait. Not while it runs.
  void Abandon();

  /// Runs `work` on the loop's thread, never inside this call; in the order of posting.
  void Post(std::function<void()> work);

  /// Starts the coroutine, from inside Run, and owns it until it ends.
  void Spawn(Async<void> work);

  /// Runs the loop until the coroutine has ended, and gives its value.
  template <class T>
  T RunUntilDone(Async<T> work);

 private:
  friend class Timer;
  friend class FdWatch;
  friend class LoopContext;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Calls back once after a time. Starting it again forgets the time before. When it is destroyed or
/// cancelled its callback will not run any more.
class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(std::chrono::milliseconds span, std::function<void()> callback);
  void Cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Calls back whenever a descriptor is ready, as long as that is wanted. Does not own the
/// descriptor, which must be open until the watch is destroyed.
class FdWatch {
 public:
  using Ready = std::function<void(bool readable, bool writable)>;

  FdWatch(Loop& loop, int fd, Ready ready);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  void Want(bool read, bool write);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// A value that comes later. Copies share it. Set from any thread; the first one counts. Awaited by
/// at most one coroutine, on the loop; that one goes on from the loop, never from inside Set. The
/// loop must outlive every Set.
template <class T>
class Pending {
 public:
  explicit Pending(Loop& loop) : state_(std::make_shared<State>(loop)) {}

  void Set(T value) const {
    std::coroutine_handle<> waiting;
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->value) return;
      state_->value.emplace(std::move(value));
      waiting = state_->waiting;
    }
    if (waiting) Resume(state_);
  }
  [[nodiscard]] bool is_set() const {
    const std::lock_guard lock(state_->mutex);
    return state_->value.has_value();
  }

  class Awaiter;
  Awaiter operator co_await() const { return Awaiter(state_); }

 private:
  struct State {
    explicit State(Loop& owner) : loop(owner) {}
    Loop& loop;
    std::mutex mutex;
    std::optional<T> value;
    std::coroutine_handle<> waiting;  // Null as well when the waiting coroutine was destroyed.
  };

  static void Resume(const std::shared_ptr<State>& state) {
    state->loop.Post([state] {
      std::coroutine_handle<> waiting;
      {
        const std::lock_guard lock(state->mutex);
        waiting = std::exchange(state->waiting, nullptr);
      }
      if (waiting) waiting.resume();
    });
  }

  std::shared_ptr<State> state_;
};

template <class T>
class Pending<T>::Awaiter {
 public:
  explicit Awaiter(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;
  ~Awaiter() {
    const std::lock_guard lock(state_->mutex);
    state_->waiting = nullptr;
  }

  [[nodiscard]] bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) const {
    const std::lock_guard lock(state_->mutex);
    if (state_->value) return false;
    state_->waiting = waiting;
    return true;
  }
  T await_resume() const {
    const std::lock_guard lock(state_->mutex);
    return *std::move(state_->value);
  }

 private:
  std::shared_ptr<State> state_;
};

/// kCancelled when the token is cancelled first.
Async<Status> Sleep(Loop& loop, std::chrono::milliseconds span, CancelToken cancel);

template <class T>
T Loop::RunUntilDone(Async<T> work) {
  if constexpr (std::is_void_v<T>) {
    auto whole = [](Loop& loop, Async<T> inner) -> Async<void> {
      co_await inner;
      loop.Stop();
    };
    Spawn(whole(*this, std::move(work)));
    Run();
  } else {
    std::optional<T> value;
    auto whole = [](Loop& loop, Async<T> inner, std::optional<T>& out) -> Async<void> {
      out.emplace(co_await inner);
      loop.Stop();
    };
    Spawn(whole(*this, std::move(work), value));
    Run();
    return *std::move(value);
  }
}

}  // namespace stet
