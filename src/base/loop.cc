#include "base/loop.h"

#include <list>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/loop_context.h"

namespace stet {

namespace asio = boost::asio;

namespace {

/// The outermost coroutine, which no other awaits: it destroys itself at its end.
struct Root {
  struct promise_type {  // NOLINT(readability-identifier-naming): the language names it.
    Root get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

using Roots = std::list<std::coroutine_handle<>>;

Root RunRoot(Async<void> task, Roots& roots, Roots::iterator self) {
  co_await task;
  roots.erase(self);
}

}  // namespace

struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  Roots roots;  // Spawned, not yet ended.
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}

Loop::~Loop() { Abandon(); }

void Loop::Abandon() {
  // Tasks may own timers and watches: they go before the context.
  while (!impl_->roots.empty()) {
    const std::coroutine_handle<> root = impl_->roots.front();
    impl_->roots.pop_front();
    root.destroy();
  }
}

void Loop::Run() {
  impl_->context.run();
  impl_->context.restart();
}

void Loop::Stop() { impl_->context.stop(); }

void Loop::Post(std::function<void()> work) { asio::post(impl_->context, std::move(work)); }

asio::io_context& LoopContext::Of(Loop& loop) { return loop.impl_->context; }

void Loop::Spawn(Async<void> task) {
  const auto self = impl_->roots.emplace(impl_->roots.end());
  *self = RunRoot(std::move(task), impl_->roots, self).handle;
  Post([handle = *self] { handle.resume(); });
}

struct Timer::Impl {
  explicit Impl(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  std::uint64_t started = 0;  // Tells a wait that was replaced, but is already due, from the last.
};

Timer::Timer(Loop& loop) : impl_(std::make_shared<Impl>(loop.impl_->context)) {}

Timer::~Timer() { Cancel(); }  // NOLINT(bugprone-exception-escape): a timer can be cancelled.

void Timer::Start(std::chrono::milliseconds span, std::function<void()> callback) {
  impl_->timer.expires_after(span);
  impl_->timer.async_wait([impl = impl_, number = ++impl_->started,
                           callback = std::move(callback)](const boost::system::error_code& error) {
    if (!error && number == impl->started) callback();
  });
}

void Timer::Cancel() {
  ++impl_->started;
  impl_->timer.cancel();
}

struct FdWatch::Impl {
  Impl(asio::io_context& context, int fd, Ready on_ready)
      : descriptor(context, fd), ready(std::move(on_ready)) {}

  static void Arm(const std::shared_ptr<Impl>& self) {
    if (self->want_read && !std::exchange(self->reading, true)) {
      self->descriptor.async_wait(
          asio::posix::stream_descriptor::wait_read,
          [self](const boost::system::error_code& error) { Fire(self, error, true); });
    }
    if (self->want_write && !std::exchange(self->writing, true)) {
      self->descriptor.async_wait(
          asio::posix::stream_descriptor::wait_write,
          [self](const boost::system::error_code& error) { Fire(self, error, false); });
    }
  }

  static void Fire(const std::shared_ptr<Impl>& self, const boost::system::error_code& error,
                   bool read) {
    (read ? self->reading : self->writing) = false;
    if (!self->alive || error == asio::error::operation_aborted) return;
    if (read ? self->want_read : self->want_write) {
      const Ready ready = self->ready;  // The watch may be destroyed inside.
      ready(read, !read);
    }
    if (self->alive) Arm(self);
  }

  asio::posix::stream_descriptor descriptor;
  Ready ready;
  bool alive = true;
  bool want_read = false;
  bool want_write = false;
  bool reading = false;  // A wait is under way.
  bool writing = false;
};

FdWatch::FdWatch(Loop& loop, int fd, Ready ready)
    : impl_(std::make_shared<Impl>(loop.impl_->context, fd, std::move(ready))) {}

FdWatch::~FdWatch() {
  impl_->alive = false;
  impl_->descriptor.release();
}

void FdWatch::Want(bool read, bool write) {
  impl_->want_read = read;
  impl_->want_write = write;
  Impl::Arm(impl_);
}

Async<Status> Sleep(Loop& loop, std::chrono::milliseconds span, CancelToken cancel) {
  const Pending<Status> done(loop);
  Timer timer(loop);
  timer.Start(span, [done] { done.Set(Status()); });
  const CancelRegistration registration =
      cancel.OnCancel([done] { done.Set(Fail(Code::kCancelled, "cancelled")); });
  co_return co_await done;
}

}  // namespace stet
