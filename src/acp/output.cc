#include "acp/output.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <unistd.h>

namespace stet::acp {

void Output::Push(std::string line) {
  line += '\n';
  {
    const std::lock_guard lock(mutex_);
    if (overrun_) return;
    if (line.size() > kMaxWaiting - waiting_) {
      overrun_ = true;
    } else {
      queue_ += line;
      waiting_ += line.size();
    }
  }
  wake_();
}

/// A pipe that is ready for writing has room for PIPE_BUF bytes.
Status Output::WriteSome(int fd) {
  if (written_ == current_.size()) {
    const std::lock_guard lock(mutex_);
    current_ = std::exchange(queue_, std::string());
    written_ = 0;
  }
  if (current_.empty()) return {};
  const std::size_t size = std::min<std::size_t>(current_.size() - written_, PIPE_BUF);
  const ssize_t done = ::write(fd, current_.data() + written_, size);
  if (done < 0 && errno != EINTR && errno != EAGAIN) return FailSystem(errno, "write to stdout");
  if (done <= 0) return {};
  written_ += static_cast<std::size_t>(done);
  waiting_ -= static_cast<std::size_t>(done);
  return {};
}

}  // namespace stet::acp
