#include "log/commit.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <thread>
#include <utility>

#include <unistd.h>

namespace stet::log {
namespace {

/// The one thread that flushes what may be late. It sleeps until there is something, and never
/// ends: closing a log flushes it first.
class Flusher {
 public:
  static Flusher& Get() {
    static auto* flusher = new Flusher;
    return *flusher;
  }

  void Add(std::shared_ptr<Commit> commit) {
    const std::lock_guard lock(mutex_);
    due_.emplace_back(std::chrono::steady_clock::now() + Commit::kSoon, std::move(commit));
    wake_.notify_one();
  }

 private:
  Flusher() {
    std::thread([this] { Loop(); }).detach();
  }

  void Loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return !due_.empty(); });
      const auto when = due_.front().first;
      lock.unlock();
      std::this_thread::sleep_until(when);
      lock.lock();
      const std::shared_ptr<Commit> commit = std::move(due_.front().second);
      due_.pop_front();
      lock.unlock();
      (void)commit->SyncTo(
          UINT64_MAX);  // A failure stays with the commit: its log's next append tells it.
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::shared_ptr<Commit>>> due_;
};

}  // namespace

void Commit::Wrote(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  written_ = end;
  flushed_ = std::min(flushed_, end);
}

Status Commit::FlushOnce() {
  RETURN_IF_ERROR(before_());
  if (::fdatasync(fd_.get()) != 0) {
    return std::unexpected(Error(
        Code::kIo, SystemError(errno, "flushing the log failed; it is read-only now").message));
  }
  return {};
}

Status Commit::SyncTo(std::uint64_t end) {
  std::unique_lock lock(mutex_);
  end = std::min(end, written_);
  soon_ = false;
  while (true) {
    if (failure_) return std::unexpected(*failure_);
    if (flushed_ >= end) return {};
    if (!flushing_) break;
    done_.wait(lock);
  }
  flushing_ = true;
  const std::uint64_t target = written_;
  lock.unlock();
  const Status flushed = FlushOnce();
  lock.lock();
  flushing_ = false;
  ++flushes_;
  if (flushed)
    flushed_ = std::max(flushed_, target);
  else
    failure_ = flushed.error();
  done_.notify_all();
  return flushed;
}

void Commit::SyncSoon() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(soon_, true)) return;
  }
  Flusher::Get().Add(shared_from_this());
}

std::uint64_t Commit::flushed() const {
  const std::lock_guard lock(mutex_);
  return flushed_;
}

std::uint64_t Commit::flush_count() const {
  const std::lock_guard lock(mutex_);
  return flushes_;
}

std::optional<Error> Commit::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Commit::Fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
}

}  // namespace stet::log
