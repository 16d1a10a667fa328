#include "face/slow_notice.h"

#include <csignal>
#include <utility>

#include "base/thread.h"

namespace stet::face {

SlowNotice::SlowNotice(Console& console, std::string what, std::chrono::milliseconds after) {
  // The thread begins with what its maker blocks: signals stay with the threads that expect them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> started =
      StartThread([this, &console, what = std::move(what), after] { Watch(console, what, after); });
  // Ignoring the error on purpose: what is waited for matters more than the word about it.
  if (started) thread_ = *std::move(started);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SlowNotice::~SlowNotice() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void SlowNotice::Watch(Console& console, const std::string& what, std::chrono::milliseconds after) {
  std::unique_lock lock(mutex_);
  if (!ended_changed_.wait_for(lock, after, [this] { return ended_; }))
    console.Say("stet: waiting for " + what);
}

}  // namespace stet::face
