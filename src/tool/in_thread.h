// InThread: blocking work in a thread of its own, awaited on the loop.
//
// The work gets a token that is cancelled with the call's, and also when the waiting task is
// destroyed, which then waits for the work to end: a thread never outlives its call. The work must
// not touch what belongs to the loop.
#pragma once

#include <thread>
#include <utility>

#include "base/cancel.h"
#include "base/loop.h"
#include "base/result.h"
#include "base/thread.h"

namespace stet::tool {

class CancelledThread {
 public:
  explicit CancelledThread(const CancelToken& parent) : source_(parent) {}
  CancelledThread(const CancelledThread&) = delete;
  CancelledThread& operator=(const CancelledThread&) = delete;
  ~CancelledThread() {
    source_.Cancel();
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] CancelToken token() const { return source_.token(); }

  template <class Body>
  Status Start(Body body) {
    ASSIGN_OR_RETURN(thread_, StartThread(std::move(body)));
    return {};
  }

 private:
  CancelSource source_;
  std::thread thread_;
};

/// `work` is called as Result<T>(CancelToken).
template <class T, class Work>
Async<Result<T>> InThread(Loop& loop, CancelToken cancel, Work work) {
  const Pending<Result<T>> done(loop);
  CancelledThread thread(cancel);
  CO_RETURN_IF_ERROR(thread.Start(
      [done, work = std::move(work), token = thread.token()]() mutable { done.Set(work(token)); }));
  co_return co_await done;
}

}  // namespace stet::tool
