#include "emulator/connection.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

namespace stet::emulator {
namespace {

/// How long Finish listens.
constexpr std::chrono::milliseconds kFinishWait{500};

/// Polls until the deadline, through signals. True when something happened.
bool PollUntil(int fd, short events, Deadline deadline) {
  while (true) {
    pollfd one{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, deadline.PollTimeout());
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && deadline.Passed()) return false;
  }
}

}  // namespace

std::size_t Connection::Write(std::string_view bytes) const {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t took = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (took < 0 && errno == EINTR) continue;
    if (took <= 0) break;
    sent += static_cast<std::size_t>(took);
  }
  return sent;
}

bool Connection::Pause(int ms) const {
  return !PollUntil(fd_, POLLRDHUP, Deadline::After(std::chrono::milliseconds(ms)));
}

void Connection::AwaitClient() const { PollUntil(fd_, POLLRDHUP, Deadline::Never()); }

void Connection::ResetOnClose() const {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

void Connection::Finish() const {
  ::shutdown(fd_, SHUT_WR);
  const Deadline deadline = Deadline::After(kFinishWait);
  std::array<char, std::size_t{16} << 10> ignored;
  while (PollUntil(fd_, POLLIN | POLLRDHUP, deadline)) {
    if (::recv(fd_, ignored.data(), ignored.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace stet::emulator
