#include "tui/tty.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fs.h"

namespace stet::tui {
namespace {

constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// For the handler of crashes alone, which can be given nothing.
termios crash_modes;
volatile std::sig_atomic_t crash_restores = 0;

/// Only calls that a handler may make. The default action follows: it is installed for one time.
extern "C" void RestoreAndDie(int signal) {
  if (crash_restores != 0) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &crash_modes);
    (void)!::write(STDOUT_FILENO, kPasteOff.data(), kPasteOff.size());
  }
  ::raise(signal);
}

volatile std::sig_atomic_t hang_up_fd = -1;

/// The main thread may be where it looks at no signals, in a write to a terminal that takes nothing
/// any more. SIGALRM has its default action.
extern "C" void EndSoon(int) {
  const int before = errno;
  ::alarm(Tty::kLastTime);
  const std::uint64_t one = 1;
  (void)!::write(hang_up_fd, &one, sizeof one);
  errno = before;
}

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGWINCH, SIGTSTP, SIGCONT}) sigaddset(&set, signal);
  return set;
}

void CatchHangUp() {
  struct sigaction action{};
  action.sa_handler = EndSoon;
  ::sigaction(SIGHUP, &action, nullptr);
}

void CatchCrashes() {
  struct sigaction action{};
  action.sa_handler = RestoreAndDie;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

}  // namespace

Result<std::unique_ptr<Tty>> Tty::Open() {
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) != 0) return FailSystem(errno, "look at the terminal");
  std::unique_ptr<Tty> tty(new Tty(before));
  const sigset_t set = Watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  tty->signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  tty->hang_up_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!tty->signals_ || !tty->hang_up_) return FailSystem(errno, "watch signals");
  hang_up_fd = tty->hang_up_.get();
  CatchHangUp();
  crash_modes = before;
  CatchCrashes();
  tty->Enter();
  return tty;
}

Tty::~Tty() { Finish(); }

void Tty::Enter() {
  termios modes = before_;
  modes.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  modes.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
  entered_ = true;
  crash_restores = 1;
  Write(kPasteOn);
}

void Tty::Leave() {
  if (!entered_) return;
  entered_ = false;
  crash_restores = 0;
  Write(kPasteOff);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

void Tty::Suspend() {
  Leave();
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  // No other thread takes it: they were made with it blocked. We are stopped inside kill.
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  ::kill(0, SIGTSTP);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigset_t go_on;
  sigemptyset(&go_on);
  sigaddset(&go_on, SIGCONT);
  // What made us go on is known already.
  const timespec at_once{};
  ::sigtimedwait(&go_on, nullptr, &at_once);
  Enter();
}

void Tty::Finish() {
  if (finished_) return;
  finished_ = true;
  Leave();
  // What came meanwhile has had its effect: we are ending.
  while (NextSignal()) {
  }
  ::signal(SIGHUP, SIG_DFL);
  const sigset_t set = Watched();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<int> Tty::NextSignal() {
  std::uint64_t count = 0;
  signalfd_siginfo info{};
  int signal = 0;
  if (::read(hang_up_.get(), &count, sizeof count) == sizeof count)
    signal = SIGHUP;
  else if (::read(signals_.get(), &info, sizeof info) == sizeof info)
    signal = static_cast<int>(info.ssi_signo);
  else
    return std::nullopt;
  ending_ = ending_ || signal == SIGHUP || signal == SIGTERM;
  return signal;
}

std::optional<std::string> Tty::Read() const {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return "";
  if (got <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

void Tty::Write(std::string_view bytes) const { (void)WriteAll(STDOUT_FILENO, bytes); }

Tty::Size Tty::size() const {
  constexpr Size kDefault = {80, 24};
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return kDefault;
  return {size.ws_col, size.ws_row};
}

}  // namespace stet::tui
