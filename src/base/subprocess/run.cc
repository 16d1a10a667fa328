// Subprocess::Run: drives one child with poll(2), using only what any event loop could use.
#include <array>
#include <cerrno>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/subprocess/subprocess.h"

namespace stet {

namespace {

/// A descriptor that becomes readable when the token is cancelled; empty if it never can be.
Result<Fd> MakeCancelFd(const CancelToken& cancel) {
  if (!cancel.can_cancel()) return Fd();
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return FailSystem(errno, "make an event descriptor");
  return fd;
}

void Signal(int event_fd) {
  constexpr std::uint64_t kOne = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(event_fd, &kOne, sizeof kOne);
}

class Driver {
 public:
  Driver(Subprocess& child, Deadline deadline, const CancelToken& cancel, int cancel_fd)
      : child_(child), cancel_(cancel), cancel_fd_(cancel_fd), until_(deadline) {}

  /// Returns when the child has exited, or when not even SIGKILL could end it.
  void Drive(std::chrono::milliseconds grace) {
    for (;;) {
      Wait();
      child_.FeedInput();
      child_.ReadOutput();
      // Once asked to stop, the rest of the group has the grace too: an open output tells of it.
      if (exited_ && (stage_ != Stage::kAsked || !HasOutput())) return;
      if (stage_ == Stage::kRunning) {
        if (cancel_.cancelled())
          Ask(Finished::End::kCancelled, grace);
        else if (until_.Passed())
          Ask(Finished::End::kTimeout, grace);
      } else if (until_.Passed()) {
        if (exited_ || stage_ == Stage::kKilled) return;
        child_.Kill(SIGKILL);
        stage_ = Stage::kKilled;
        until_ = Deadline::After(Subprocess::kReapWait);
      }
    }
  }

  /// Why the child was asked to stop, if it was.
  [[nodiscard]] std::optional<Finished::End> cause() const { return cause_; }

 private:
  enum class Stage {
    kRunning,  // It may go on until the deadline.
    kAsked,    // SIGTERM was sent; it has the grace to finish.
    kKilled,   // SIGKILL was sent; only the kernel can keep it.
  };

  void Wait() {
    // poll(2) skips negative descriptors: those that have come to their end.
    std::array<pollfd, 5> fds{{
        {.fd = child_.stdin_fd(), .events = POLLOUT, .revents = 0},
        {.fd = child_.stdout_fd(), .events = POLLIN, .revents = 0},
        {.fd = child_.stderr_fd(), .events = POLLIN, .revents = 0},
        {.fd = stage_ == Stage::kRunning ? cancel_fd_ : -1, .events = POLLIN, .revents = 0},
        {.fd = exited_ ? -1 : child_.pidfd(), .events = POLLIN, .revents = 0},
    }};
    if (::poll(fds.data(), fds.size(), until_.PollTimeout()) > 0 && fds.back().revents != 0)
      exited_ = true;
  }

  void Ask(Finished::End cause, std::chrono::milliseconds grace) {
    cause_ = cause;
    stage_ = Stage::kAsked;
    until_ = Deadline::After(grace);
    child_.Kill(SIGTERM);
    child_.Kill(SIGCONT);  // A stopped process would not hear of it.
  }

  [[nodiscard]] bool HasOutput() const {
    return child_.stdout_fd() >= 0 || child_.stderr_fd() >= 0;
  }

  Subprocess& child_;
  const CancelToken& cancel_;
  const int cancel_fd_;
  Deadline until_;  // When the stage is over.
  Stage stage_ = Stage::kRunning;
  bool exited_ = false;
  std::optional<Finished::End> cause_;
};

}  // namespace

Result<Finished> Subprocess::Run(SpawnOptions options, Deadline deadline, const CancelToken& cancel,
                                 std::chrono::milliseconds grace) {
  if (cancel.cancelled()) return Fail(Code::kCancelled, "cancelled before it was started");
  const bool kill_rest = options.kill_group_on_exit;
  ASSIGN_OR_RETURN(const Fd cancel_fd, MakeCancelFd(cancel));
  const auto wake = cancel.OnCancel([fd = cancel_fd.get()] { Signal(fd); });
  ASSIGN_OR_RETURN(Subprocess child, Start(std::move(options)));

  Driver driver(child, deadline, cancel, cancel_fd.get());
  driver.Drive(grace);

  // Before Reap, while the group's number is still ours.
  if (kill_rest || driver.cause()) child.Kill(SIGKILL);
  child.Reap();
  Finished finished = child.TakeFinished();
  if (driver.cause()) finished.end = *driver.cause();
  return finished;
}

}  // namespace stet
