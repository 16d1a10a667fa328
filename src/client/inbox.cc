#include "client/inbox.h"

#include <cerrno>
#include <deque>
#include <mutex>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace stet::client {

/// What is shared with the threads that put news in, which may outlive the inbox.
class Inbox::Queue {
 public:
  Queue() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK(ready_.get() >= 0, "an eventfd");
  }

  [[nodiscard]] int fd() const { return ready_.get(); }

  /// `round`: of an answer; 0 for what is told in any case.
  void Put(News news, std::uint64_t round) {
    {
      const std::lock_guard lock(mutex_);
      if (round != 0 && round != round_) return;
      news_.push_back(std::move(news));
      // The face is awake already, or will look before it sleeps.
      if (news_.size() > 1) return;
    }
    Signal();
  }

  void Poke() {
    {
      const std::lock_guard lock(mutex_);
      poked_ = true;
    }
    Signal();
  }

  std::optional<News> Pop() {
    const std::lock_guard lock(mutex_);
    if (news_.empty()) return std::nullopt;
    News first = std::move(news_.front());
    news_.pop_front();
    return first;
  }

  /// What is dropped is destroyed outside of the lock: it may hold other replies.
  void DropAnswers() {
    std::deque<News> dropped;
    const std::lock_guard lock(mutex_);
    ++round_;
    std::deque<News> kept;
    for (News& news : news_)
      (std::holds_alternative<Answered>(news) ? dropped : kept).push_back(std::move(news));
    news_ = std::move(kept);
  }

  std::uint64_t round() {
    const std::lock_guard lock(mutex_);
    return round_;
  }

  void ClearSignal() const {
    std::uint64_t count = 0;
    (void)!::read(ready_.get(), &count, sizeof count);
  }

  /// True once after a Poke; false means: wait, or look again.
  bool TakePoke() {
    const std::lock_guard lock(mutex_);
    return std::exchange(poked_, false);
  }

 private:
  void Signal() const {
    const std::uint64_t one = 1;
    // It cannot fill up: a full counter is readable as well.
    (void)!::write(ready_.get(), &one, sizeof one);
  }

  Fd ready_;  // An eventfd.
  std::mutex mutex_;
  std::deque<News> news_;
  std::uint64_t round_ = 1;  // Counts DropAnswers.
  bool poked_ = false;
};

Inbox::Inbox() : queue_(std::make_shared<Queue>()) {}
Inbox::~Inbox() = default;

int Inbox::fd() const { return queue_->fd(); }
void Inbox::Poke() { queue_->Poke(); }
void Inbox::DropAnswers() { queue_->DropAnswers(); }
std::uint64_t Inbox::round() const { return queue_->round(); }

client::Watcher Inbox::Watcher() {
  return [held = std::weak_ptr<Queue>(queue_)](const protocol::Event* event,
                                               const protocol::Transient* transient) {
    const std::shared_ptr<Queue> queue = held.lock();
    if (!queue) return;
    if (event != nullptr) queue->Put(*event, 0);
    if (transient != nullptr) queue->Put(*transient, 0);
  };
}

void Inbox::PutAnswer(const std::weak_ptr<Queue>& queue, std::uint64_t round, Answered answer) {
  if (const std::shared_ptr<Queue> held = queue.lock()) held->Put(std::move(answer), round);
}

std::optional<News> Inbox::Take() {
  if (std::optional<News> first = queue_->Pop()) return first;
  queue_->ClearSignal();
  // What came between the two looks: its signal may have been taken just now.
  return queue_->Pop();
}

std::optional<News> Inbox::Wait(std::optional<std::chrono::milliseconds> most) {
  const Deadline deadline = most ? Deadline::After(*most) : Deadline::Never();
  while (true) {
    if (std::optional<News> news = Take()) return news;
    if (queue_->TakePoke()) return std::nullopt;
    // News that came since the look has its signal, which is still there.
    pollfd wait{.fd = queue_->fd(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, deadline.PollTimeout());
    if ((ready == 0 && deadline.Passed()) || (ready < 0 && errno != EINTR)) return std::nullopt;
  }
}

}  // namespace stet::client
