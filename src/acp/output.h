// Output: lines on their way to the client, from any thread to the one that writes them.
//
// A client that does not read stops nothing: lines wait here, up to a cap, beyond which the client
// counts as gone and nothing more is taken. Who has very much to say, such as a whole history, says
// it while there is room.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"

namespace stet::acp {

class Output {
 public:
  /// More bytes do not wait: the client is gone.
  static constexpr std::size_t kMaxWaiting = std::size_t{64} << 20;
  /// While more than this waits there is no room for what can wait itself.
  static constexpr std::size_t kEnough = std::size_t{1} << 20;

  /// `wake` is called, from any thread, when there is something to write.
  explicit Output(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Takes a line without its end; never waits.
  void Push(std::string line);

  [[nodiscard]] bool empty() const { return waiting_ == 0; }
  [[nodiscard]] bool has_room() const { return waiting_ <= kEnough; }
  /// More came than may wait.
  [[nodiscard]] bool overrun() const { return overrun_; }

  /// Writes a little, which does not block when the descriptor is ready for writing. Only for the
  /// one thread that writes. Fails when its reader has gone.
  Status WriteSome(int fd);

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::string queue_;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> overrun_{false};
  // Of the thread that writes.
  std::string current_;
  std::size_t written_ = 0;
};

}  // namespace stet::acp
