#include "base/cancel.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace stet {

class CancelState {
 public:
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  void FollowParent(CancelRegistration registration) { parent_ = std::move(registration); }

  void Cancel() {
    std::unique_lock lock(mutex_);
    if (cancelled_.exchange(true)) return;
    running_thread_ = std::this_thread::get_id();
    while (!waiting_.empty()) {
      auto callback = waiting_.extract(waiting_.begin());
      running_ = callback.key();
      lock.unlock();
      callback.mapped()();
      callback = {};  // What it captured dies before waiting threads hear that it is done.
      lock.lock();
      running_ = 0;
      finished_.notify_all();
    }
  }

  /// 0 when cancelled already: then the callback is left to the caller.
  std::uint64_t Register(std::function<void()>& callback) {
    const std::scoped_lock lock(mutex_);
    if (cancelled()) return 0;
    const std::uint64_t id = ++last_id_;
    waiting_.emplace(id, std::move(callback));
    return id;
  }

  void Unregister(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    const auto removed = waiting_.extract(id);
    if (removed.empty() && running_thread_ != std::this_thread::get_id())
      finished_.wait(lock, [&] { return running_ != id; });
    lock.unlock();  // Before `removed` dies: what it captured may come back here.
  }

 private:
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::map<std::uint64_t, std::function<void()>> waiting_;  // In the order of registration.
  std::uint64_t last_id_ = 0;
  std::uint64_t running_ = 0;  // The callback that runs now; 0: none.
  std::thread::id running_thread_;
  CancelRegistration parent_;
};

CancelRegistration::CancelRegistration(CancelRegistration&& other) noexcept
    : state_(std::move(other.state_)), id_(std::exchange(other.id_, 0)) {}

CancelRegistration& CancelRegistration::operator=(CancelRegistration&& other) noexcept {
  if (this == &other) return *this;
  reset();
  state_ = std::move(other.state_);
  id_ = std::exchange(other.id_, 0);
  return *this;
}

void CancelRegistration::reset() {
  // Moved out first: a callback that runs now may destroy this object.
  const auto state = std::move(state_);
  if (state) state->Unregister(std::exchange(id_, 0));
}

bool CancelToken::cancelled() const { return state_ && state_->cancelled(); }

CancelRegistration CancelToken::OnCancel(std::function<void()> callback) const {
  if (!state_) return {};
  if (const std::uint64_t id = state_->Register(callback)) return {state_, id};
  callback();
  return {};
}

CancelSource::CancelSource() : state_(std::make_shared<CancelState>()) {}

CancelSource::CancelSource(const CancelToken& parent) : CancelSource() {
  // The parent knows the child weakly and the child keeps its place in the parent, so a child that
  // no token refers to any more leaves nothing behind.
  state_->FollowParent(parent.OnCancel([child = std::weak_ptr(state_)] {
    if (const auto state = child.lock()) state->Cancel();
  }));
}

void CancelSource::Cancel() {
  // A copy, because a callback may destroy this source.
  if (const auto state = state_) state->Cancel();
}

}  // namespace stet
