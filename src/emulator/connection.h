// Connection: one client's socket, as the thread that serves it sees it.
//
// It does not own the descriptor: the server closes it after the thread is done, and shuts it down
// when it stops, which ends every call here early. Nothing fails but for the client being gone.
#pragma once

#include <cstddef>
#include <string_view>

namespace stet::emulator {

class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}

  [[nodiscard]] int fd() const { return fd_; }

  /// How many bytes the system took: less than all when the client is gone.
  [[nodiscard]] std::size_t Write(std::string_view bytes) const;

  /// Waits. False when the client closed its side meanwhile.
  [[nodiscard]] bool Pause(int ms) const;

  /// Waits until the client closes its side.
  void AwaitClient() const;

  /// The close that follows sends a reset.
  void ResetOnClose() const;

  /// Says that nothing more comes, and takes in what the client still sends for a moment: a close
  /// with bytes unread would be a reset.
  void Finish() const;

 private:
  int fd_;
};

}  // namespace stet::emulator
