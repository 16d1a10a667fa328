#include "base/subprocess/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard/guard.h"

namespace stet {

namespace {

/// Keeps SIGPIPE from this thread while it writes to a pipe that may have no reader.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &old_mask_);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  ~SigpipeGuard() { ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr); }

  /// Takes back the signal that a write of ours has just caused, but not one that came before it.
  void TakeBack() const {
    if (was_pending_) return;
    constexpr timespec kNow{};
    while (::sigtimedwait(&sigpipe_, nullptr, &kNow) < 0 && errno == EINTR) {
    }
  }

 private:
  bool was_pending_ = false;
  sigset_t sigpipe_;
  sigset_t old_mask_;
};

}  // namespace

Subprocess::Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this == &other) return *this;
  End();
  pid_ = std::exchange(other.pid_, -1);
  reaped_ = other.reaped_;
  how_ = other.how_;
  pidfd_ = std::move(other.pidfd_);
  control_ = std::move(other.control_);
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  err_ = std::move(other.err_);
  input_ = std::move(other.input_);
  input_sent_ = other.input_sent_;
  max_output_bytes_ = other.max_output_bytes_;
  return *this;
}

std::optional<std::size_t> Subprocess::WriteInput(std::string_view bytes) {
  if (!in_) return std::nullopt;
  const SigpipeGuard guard;
  const ssize_t sent = ::write(in_.get(), bytes.data(), bytes.size());
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EINTR) return 0;
  if (errno == EPIPE) guard.TakeBack();
  CloseInput();  // The child no longer reads, which is its right: the rest is dropped.
  return std::nullopt;
}

void Subprocess::FeedInput() {
  if (input_sent_ < input_.size()) {
    const auto sent = WriteInput(std::string_view(input_).substr(input_sent_));
    input_sent_ = sent ? input_sent_ + *sent : input_.size();
  }
  if (input_sent_ == input_.size()) CloseInput();
}

void Subprocess::ReadOutput() {
  ReadStream(out_);
  ReadStream(err_);
}

void Subprocess::ReadStream(Stream& stream) const {
  std::array<char, std::size_t{64} << 10> buffer;
  std::size_t turn = 0;
  while (stream.fd && turn < kMaxReadTurn) {
    const ssize_t got = ::read(stream.fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      stream.fd.reset();
      return;
    }
    const auto size = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(size, max_output_bytes_ - stream.text.size());
    stream.text.append(buffer.data(), kept);
    stream.dropped += size - kept;
    turn += size;
  }
}

void Subprocess::Kill(int signal) {
  if (control_) {
    guard::Ask(control_.get(), signal);
    return;
  }
  // Until it is reaped the child keeps its number, and so its group's, from being given to others.
  if (pid_ > 0 && !reaped_) ::kill(-pid_, signal);
}

bool Subprocess::Reap() {
  if (pid_ <= 0 || reaped_) return true;
  if (control_) {
    reaped_ = AwaitExit(Deadline::After({}));
    if (reaped_) HearEnd();
    return reaped_;
  }
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) != 0) {
    if (errno == EINTR) continue;
    reaped_ = true;  // ECHILD: other code in this process reaped it. How it ended is unknown.
    return true;
  }
  if (info.si_pid == 0) return false;
  reaped_ = true;
  how_ = HowItEnded{.signalled = info.si_code != CLD_EXITED, .status = info.si_status};
  return true;
}

/// A guard that could not say how the command ended was told to kill it, or was killed by it.
void Subprocess::HearEnd() {
  how_ = HowItEnded{.signalled = true, .status = SIGKILL};
  while (const auto news = guard::Hear(control_.get())) {
    if (news->kind == guard::News::Kind::kExited || news->kind == guard::News::Kind::kSignalled)
      how_ = HowItEnded{.signalled = news->kind == guard::News::Kind::kSignalled,
                        .status = news->value};
  }
  control_.reset();
}

bool Subprocess::AwaitExit(Deadline deadline) const {
  pollfd exit{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  do {
    if (::poll(&exit, 1, deadline.PollTimeout()) > 0) return true;
  } while (!deadline.Passed());
  return false;
}

void Subprocess::End() {
  if (pid_ <= 0 || reaped_) return;
  Kill(SIGKILL);
  const bool exited = AwaitExit(Deadline::After(kReapWait));
  // A guard that was stopped: the command's parent does the rest when it is gone.
  if (!exited && control_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  Reap();
}

Finished Subprocess::TakeFinished() {
  Finished finished;
  if (!reaped_) {
    // Only after SIGKILL, of a process that hangs in the kernel.
    finished.signal = SIGKILL;
  } else if (how_) {
    (how_->signalled ? finished.signal : finished.exit_code) = how_->status;
  }
  if (finished.signal != 0) finished.end = Finished::End::kKilledBySignal;
  finished.out = std::move(out_.text);
  finished.err = std::move(err_.text);
  finished.dropped_out = out_.dropped;
  finished.dropped_err = err_.dropped;
  return finished;
}

}  // namespace stet
