// Publisher: hands durable events and transients to subscribers, in the order of seq. An event that
// must be flushed first holds back all that come after it until it is. Safe from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "log/log.h"

namespace stet::log {

class Publisher {
 public:
  Subscription Subscribe(Subscriber subscriber);

  /// Whether there is a subscriber; asked before the copy that Add needs is made.
  [[nodiscard]] bool listening() const;
  /// Events and transients come in the order of seq. `needs_flush_to`: 0, or the end of the event's
  /// bytes.
  void Add(protocol::Event event, std::string line, std::uint64_t needs_flush_to);
  void Add(protocol::Transient transient);
  /// Hands out everything up to the first event that waits for a flush beyond `flushed`.
  void Drain(std::uint64_t flushed);

 private:
  struct Waiting {
    std::uint64_t needs_flush_to = 0;
    protocol::Event event;
    std::string line;
    std::unique_ptr<protocol::Transient> transient;
  };

  mutable std::mutex mutex_;
  std::mutex deliver_;  // One delivery at a time, so that order holds across threads.
  std::deque<Waiting> waiting_;
  std::vector<std::weak_ptr<Subscriber>> subscribers_;
};

}  // namespace stet::log
