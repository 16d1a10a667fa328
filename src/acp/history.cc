#include "acp/history.h"

namespace stet::acp {

bool History::Put(const protocol::Event& event) {
  bool first = false;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return ended_ || events_.size() < kMaxWaiting; });
    if (ended_) return false;
    first = events_.empty();
    events_.push_back(event);
  }
  // The side that takes looks until there is none left.
  if (first) wake_();
  return true;
}

std::optional<protocol::Event> History::Take() {
  std::optional<protocol::Event> event;
  {
    const std::lock_guard lock(mutex_);
    if (events_.empty()) return std::nullopt;
    event = std::move(events_.front());
    events_.pop_front();
  }
  room_.notify_one();
  return event;
}

void History::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    events_.clear();
  }
  room_.notify_all();
}

}  // namespace stet::acp
