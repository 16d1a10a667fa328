// Inbox: what a session tells a face and answers it, carried from the host's threads to the face's
// own, which waits for it together with whatever else it waits for.
//
// Events, transients and answers stand in it in the order in which the host said them. Take and
// what it gives belong to the face's thread; watchers and replies are called on any thread, and may
// outlive the inbox: what comes then is dropped.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "client/live.h"
#include "client/reply.h"

namespace stet::client {

/// The answer to something that the face asked: to be called, once, on the face's thread.
using Answered = std::move_only_function<void()>;

using News = std::variant<protocol::Event, protocol::Transient, Answered>;

class Inbox {
 public:
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// To be given to the host.
  client::Watcher Watcher();

  /// A Reply of any type: `next` is called with the answer when the face takes it from here. After
  /// DropAnswers, or without the inbox, it is destroyed instead, on any thread.
  template <class F>
  auto Then(F next);
  /// The same for what is told any number of times.
  template <class T, class F>
  std::function<void(T)> Each(F next);

  /// What was asked until now is not answered any more, whether its answer is here already or not.
  /// For a face that closes the session it asked: after this none of its continuations run.
  void DropAnswers();

  /// Readable while there is news, or after Poke.
  [[nodiscard]] int fd() const;
  /// Wakes the thread that waits; from any thread.
  void Poke();

  /// The next piece of news; nothing when there is none yet.
  std::optional<News> Take();
  /// Waits for the next piece of news, at most so long; absent: for ever. Nothing after a Poke, and
  /// when the time is up.
  std::optional<News> Wait(std::optional<std::chrono::milliseconds> most = {});

 private:
  class Queue;
  template <class F>
  class Continuation;

  static void PutAnswer(const std::weak_ptr<Queue>& queue, std::uint64_t round, Answered answer);
  [[nodiscard]] std::uint64_t round() const;

  std::shared_ptr<Queue> queue_;
};

/// Becomes the Reply that a call wants.
template <class F>
class Inbox::Continuation {
 public:
  Continuation(const Inbox& inbox, F next)
      : queue_(inbox.queue_), round_(inbox.round()), next_(std::move(next)) {}

  template <class T>
    requires std::invocable<F&, Result<T>>
  operator Reply<T>() && {  // NOLINT(google-explicit-constructor)
    return Reply<T>([queue = std::move(queue_), round = round_,
                     next = std::move(next_)](Result<T> answer) mutable {
      PutAnswer(queue, round, [next = std::move(next), answer = std::move(answer)]() mutable {
        next(std::move(answer));
      });
    });
  }

 private:
  std::weak_ptr<Queue> queue_;
  std::uint64_t round_;
  F next_;
};

template <class F>
auto Inbox::Then(F next) {
  return Continuation<F>(*this, std::move(next));
}

template <class T, class F>
std::function<void(T)> Inbox::Each(F next) {
  return [queue = std::weak_ptr<Queue>(queue_), round = round(), next = std::move(next)](T value) {
    PutAnswer(queue, round, [next, value = std::move(value)]() mutable { next(std::move(value)); });
  };
}

}  // namespace stet::client
