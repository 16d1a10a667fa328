// SlowNotice: tells on stderr what a command waits for, once that has taken long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "face/console.h"

namespace stet::face {

/// From its making to its end something is waited for. Has a thread of its own, which takes no
/// signals, so it may be made before signals are watched. Where no thread can be made nothing is
/// said.
class SlowNotice {
 public:
  /// What is answered sooner needs no word.
  static constexpr std::chrono::milliseconds kUsual{2000};

  /// Says "stet: waiting for WHAT". `console` outlives it.
  SlowNotice(Console& console, std::string what, std::chrono::milliseconds after = kUsual);
  ~SlowNotice();
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;

 private:
  void Watch(Console& console, const std::string& what, std::chrono::milliseconds after);

  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace stet::face
