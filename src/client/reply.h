// Reply: how the answer to a call comes back. A call that takes one returns at once.
//
// It is called exactly once: with what came of the call, or, when its last copy is destroyed
// before, with kCancelled. Copies share that one answer; the first copy that is called counts. The
// side that answers calls it, on a thread of its own, one thread at a time; what it calls must not
// block and must not call the answering side back. A face makes one with Inbox::Then, so that it
// takes the answer on its own thread; code that may wait uses client/await.h.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace stet::client {

template <class T>
class Reply {
 public:
  using Value = T;
  using Done = std::move_only_function<void(Result<T>)>;

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Reply> && std::is_invocable_v<F&, Result<T>>)
  Reply(F done)  // NOLINT(google-explicit-constructor): a function that takes the answer is one.
      : state_(std::make_shared<State>(std::move(done))) {}

  void operator()(Result<T> answer) const {
    if (Done done = std::exchange(state_->done, nullptr)) done(std::move(answer));
  }

 private:
  struct State {
    template <class F>
    explicit State(F function) : done(std::move(function)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      if (done) done(Fail(Code::kCancelled, "it was given up before it was answered"));
    }
    Done done;
  };

  std::shared_ptr<State> state_;
};

}  // namespace stet::client
