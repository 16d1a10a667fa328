#include "acp/run.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"

namespace stet::acp {
namespace {

/// At the end, so long is waited for a client to take what is left.
constexpr std::chrono::seconds kLastPatience{2};

/// Carries lines between the descriptors and the agent.
class Connection {
 public:
  explicit Connection(const Clients& clients)
      : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), output_([this] { Wake(); }) {
    CHECK(wake_.get() >= 0, "an eventfd");
    agent_.emplace(clients, output_);
  }

  int Run() {
    const CancelRegistration interrupted = interrupt_.token().OnCancel([this] { Wake(); });
    while (open_ && !interrupt_.token().cancelled() && !output_.overrun()) Wait();
    open_ = false;
    agent_->End();
    while (!agent_->over()) Wait();
    agent_.reset();
    if (output_.overrun()) {
      std::fputs("stet: the client does not read what it is told\n", stderr);
      return 1;
    }
    const Deadline deadline = Deadline::After(kLastPatience);
    while (!output_.empty() && !broken_ && !deadline.Passed()) Flush(deadline.PollTimeout());
    return broken_ ? 1 : 0;
  }

 private:
  void Wake() const {
    const std::uint64_t one = 1;
    // It cannot fill up: a full counter is readable as well.
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  /// A descriptor of -1 is passed over.
  void Wait() {
    const short writing = output_.empty() ? 0 : POLLOUT;
    std::vector<int> heard;
    agent_->AddDescriptors(heard);
    std::vector<pollfd> fds = {
        pollfd{.fd = open_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
        pollfd{.fd = broken_ ? -1 : STDOUT_FILENO, .events = writing, .revents = 0},
        pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    for (const int fd : heard) fds.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    if (::poll(fds.data(), fds.size(), -1) < 0) return;  // A signal: it is looked at again.
    std::uint64_t count = 0;
    if (fds[2].revents != 0) (void)!::read(wake_.get(), &count, sizeof count);
    if (fds[1].revents != 0) Write(fds[1].revents);
    agent_->Hear();
    if (fds[0].revents != 0 && open_) Read();
  }

  void Flush(int timeout) {
    pollfd one{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&one, 1, timeout) == 1) Write(one.revents);
  }

  /// A reader that has gone away wants nothing more.
  void Write(short ready) {
    const bool gone = (ready & (POLLERR | POLLNVAL)) != 0;
    if (!gone && output_.WriteSome(STDOUT_FILENO)) return;
    broken_ = true;
    open_ = false;
  }

  void Read() {
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got > 0) return agent_->Feed({buffer.data(), static_cast<std::size_t>(got)});
    open_ = false;
    agent_->Finish();
  }

  InterruptWatch interrupt_;  // The first: threads that are made after it leave signals to it.
  Fd wake_;
  Output output_;
  std::optional<Agent> agent_;
  bool open_ = true;
  bool broken_ = false;
};

}  // namespace

int RunAcp(const Clients& clients) { return Connection(clients).Run(); }

}  // namespace stet::acp
