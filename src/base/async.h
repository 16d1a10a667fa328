// Async: a coroutine that is awaited by one other. How everything that waits is written.
//
// Lazy: it runs when it is awaited (or given to Loop::Spawn), on the thread that awaits it. It owns
// its frame; destroying one that waits destroys what it was doing, innermost first. Not thread
// safe. Nothing here throws, and an exception that leaves one ends the process.
//
// Two rules, for GCC 12: give an awaited call named objects instead of brace-initialised
// temporaries, and use the CO_ macros below instead of their namesakes.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/result.h"

namespace stet {

template <class T>
class Async;

namespace internal {

/// What all frames share: the coroutine to resume at the end.
struct AsyncFrame {
  std::coroutine_handle<> awaiter;

  struct AtEnd {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Frame>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Frame> done) noexcept {
      const std::coroutine_handle<> next = done.promise().awaiter;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] AtEnd final_suspend() const noexcept { return {}; }
  [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
};

template <class T>
struct AsyncFrameOf : AsyncFrame {
  std::optional<T> value;
  Async<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T TakeValue() { return *std::move(value); }
};

template <>
struct AsyncFrameOf<void> : AsyncFrame {
  Async<void> get_return_object();
  void return_void() const {}
  void TakeValue() const {}
};

}  // namespace internal

template <class T>
class [[nodiscard]] Async {
 public:
  using promise_type = internal::AsyncFrameOf<T>;

  Async(Async&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Async& operator=(Async&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Async() {
    if (handle_) handle_.destroy();
  }

  // Awaiting one runs it to its end.
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  T await_resume() { return handle_.promise().TakeValue(); }

 private:
  friend promise_type;
  explicit Async(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

namespace internal {

template <class T>
Async<T> AsyncFrameOf<T>::get_return_object() {
  return Async<T>(std::coroutine_handle<AsyncFrameOf>::from_promise(*this));
}

inline Async<void> AsyncFrameOf<void>::get_return_object() {
  return Async<void>(std::coroutine_handle<AsyncFrameOf>::from_promise(*this));
}

}  // namespace internal

}  // namespace stet

/// RETURN_IF_ERROR inside a coroutine.
#define CO_RETURN_IF_ERROR(expression)                           \
  do {                                                           \
    if (auto stet_status = (expression); !stet_status)           \
      co_return std::unexpected(std::move(stet_status).error()); \
  } while (false)

/// ASSIGN_OR_RETURN inside a coroutine.
#define CO_ASSIGN_OR_RETURN(declaration, expression) \
  CO_ASSIGN_OR_RETURN_(STET_CONCAT(stet_result_, __LINE__), declaration, expression)
#define CO_ASSIGN_OR_RETURN_(result, declaration, expression)        \
  auto result = (expression);                                        \
  if (!result) co_return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
