// History: the events of a session on their way from the thread that reads them to the agent's,
// which tells them to the client as fast as that listens.
//
// Bounded: the reading side waits for room, the agent's never waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "protocol/event.h"

namespace stet::acp {

class History {
 public:
  /// More events do not wait.
  static constexpr std::size_t kMaxWaiting = 64;

  /// `wake` is called on the reading thread when there is something to take.
  explicit History(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Waits for room. False when no more are wanted.
  bool Put(const protocol::Event& event);

  /// The next one; nothing when none is there now.
  std::optional<protocol::Event> Take();
  /// No more are wanted: the reading side stops.
  void End();

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<protocol::Event> events_;
  bool ended_ = false;
};

}  // namespace stet::acp
