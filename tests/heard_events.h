// HeardEvents: the ids of the events that a client was told, in the order of telling.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "client/live.h"

namespace stet::test {

class HeardEvents {
 public:
  client::Watcher Watcher() {
    return [this](const protocol::Event* event, const protocol::Transient*) {
      if (event == nullptr) return;
      const std::lock_guard lock(mutex_);
      ids_.push_back(event->id);
      last_seq_ = event->seq;
      changed_.notify_all();
    };
  }
  /// Whether this event, or a later one, was told, now or within a long time.
  bool AwaitSeq(std::uint64_t seq) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] { return last_seq_ >= seq; });
  }
  std::vector<std::string> Ids() {
    const std::lock_guard lock(mutex_);
    return ids_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> ids_;
  std::uint64_t last_seq_ = 0;
};

}  // namespace stet::test
