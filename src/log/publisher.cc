#include "log/publisher.h"

namespace stet::log {

Subscription Publisher::Subscribe(Subscriber subscriber) {
  auto token = std::make_shared<Subscriber>(std::move(subscriber));
  const std::lock_guard lock(mutex_);
  std::erase_if(subscribers_, [](const auto& one) { return one.expired(); });
  subscribers_.push_back(token);
  return Subscription(std::move(token));
}

bool Publisher::listening() const {
  const std::lock_guard lock(mutex_);
  return !subscribers_.empty();
}

void Publisher::Add(protocol::Event event, std::string line, std::uint64_t needs_flush_to) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({needs_flush_to, std::move(event), std::move(line), nullptr});
}

void Publisher::Add(protocol::Transient transient) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({0, {}, {}, std::make_unique<protocol::Transient>(std::move(transient))});
}

void Publisher::Drain(std::uint64_t flushed) {
  const std::lock_guard order(deliver_);
  while (true) {
    Waiting next;
    std::vector<std::shared_ptr<Subscriber>> listeners;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty() || waiting_.front().needs_flush_to > flushed) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
      for (const auto& one : subscribers_) {
        if (auto alive = one.lock()) listeners.push_back(std::move(alive));
      }
    }
    const bool is_event = next.transient == nullptr;
    const Published published{.seq = is_event ? next.event.seq : next.transient->seq,
                              .event = is_event ? &next.event : nullptr,
                              .line = next.line,
                              .transient = next.transient.get()};
    for (const auto& listener : listeners) (*listener)(published);
  }
}

}  // namespace stet::log
