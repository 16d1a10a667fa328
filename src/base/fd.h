// Fd: owns one file descriptor and closes it when it dies.
//
// Move-only; a moved-from or default Fd is empty (-1). It belongs to one thread at a time. The
// result of close(2) is ignored on purpose: what must reach the disk is flushed by fsync before.
#pragma once

#include <utility>

#include <unistd.h>

namespace stet {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }

  /// Hands the descriptor to the caller, who closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  /// Closes what it holds, then owns `fd`.
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old >= 0)
      ::close(old);  // Never retried: Linux frees the number even when close says EINTR.
  }

  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace stet
