// Beside: calls of a class that blocks on the disk, made one after the other on a thread beside the
// caller's, so that the caller never waits.
//
// The thread begins with the first call. Destroying it waits for the call that runs; what waits
// behind that is kCancelled.
#pragma once

#include <functional>
#include <utility>

#include "base/loop_thread.h"
#include "client/reply.h"

namespace stet::host {

template <class Blocking>
class Beside {
 public:
  explicit Beside(Blocking blocking) : blocking_(std::move(blocking)) {}

  /// `reply` hears what `method` returns for copies of the arguments.
  template <class T, class Method, class... Arguments>
  void Run(client::Reply<T> reply, Method method, Arguments... arguments) {
    if (!std::exchange(started_, true)) thread_.Start();
    thread_.loop().Post(
        [reply = std::move(reply),
         call = std::bind_front(method, &blocking_, std::move(arguments)...)] { reply(call()); });
  }

 private:
  Blocking blocking_;
  bool started_ = false;
  LoopThread thread_;
};

}  // namespace stet::host
