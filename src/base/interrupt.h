// InterruptWatch: Ctrl-C as a cancel. The first SIGINT or SIGTERM cancels; a second SIGINT ends the
// process at once, with exit code 130.
//
// Make it before any other thread exists: it blocks both signals in this thread, and the threads
// that are made after it inherit that. Only one at a time.
#pragma once

#include <thread>

#include "base/cancel.h"

namespace stet {

class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] CancelToken token() const { return source_.token(); }

 private:
  void Watch();

  CancelSource source_;
  std::thread thread_;
};

}  // namespace stet
