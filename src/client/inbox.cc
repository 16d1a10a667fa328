#include "client/inbox.h"

#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/result.h"

namespace stet::client {

Inbox::Inbox() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(ready_.get() >= 0, "an eventfd");
}

client::Watcher Inbox::Watcher() {
  return [this](const protocol::Event* event, const protocol::Transient* transient) {
    if (event != nullptr) Put(*event);
    if (transient != nullptr) Put(*transient);
  };
}

void Inbox::Put(News news) {
  {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
    // Whoever waits is awake already, or will look before it sleeps.
    if (news_.size() > 1) return;
  }
  Signal();
}

void Inbox::Poke() {
  {
    const std::lock_guard lock(mutex_);
    poked_ = true;
  }
  Signal();
}

void Inbox::Signal() const {
  const std::uint64_t one = 1;
  // It cannot fill up: a full counter is readable as well.
  (void)!::write(ready_.get(), &one, sizeof one);
}

std::optional<News> Inbox::Take() {
  if (std::optional<News> first = Pop()) return first;
  std::uint64_t count = 0;
  (void)!::read(ready_.get(), &count, sizeof count);
  // What came between the two looks: its signal may be the one that was just taken.
  return Pop();
}

std::optional<News> Inbox::Pop() {
  const std::lock_guard lock(mutex_);
  if (news_.empty()) return std::nullopt;
  News first = std::move(news_.front());
  news_.pop_front();
  return first;
}

std::optional<News> Inbox::Wait() {
  while (true) {
    if (std::optional<News> news = Take()) return news;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(poked_, false)) return std::nullopt;
      if (!news_.empty()) continue;
    }
    pollfd wait{.fd = ready_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, -1) < 0 && errno != EINTR) return std::nullopt;
  }
}

}  // namespace stet::client
