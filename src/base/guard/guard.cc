#include "base/guard/guard.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard/descendants.h"
#include "base/guard/init.h"
#include "base/guard/keeper.h"
#include "base/guard/order.h"

namespace stet {
namespace guard {
namespace {

std::atomic<bool> available = false;
BoxMaker make_box = nullptr;

/// Guards hear signals through a descriptor only; nothing but SIGKILL and SIGSTOP can disturb them.
int BlockSignals() {
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

class Guard {
 public:
  explicit Guard(Charge charge) : charge_(std::move(charge)), signal_fd_(BlockSignals()) {}

  [[noreturn]] void Run() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (::chdir(charge_.order.cwd.c_str()) != 0) Fail(errno);
    MakeBox();
    StartInit();
    if (init_ < 0) Fail(EAGAIN);
    LetGo();
    while (!Over()) {
    }
    if (apart_ != Apart::kNone) ::kill(init_, SIGKILL);
    KillDescendants();
    box_.reset();
    ::_exit(0);
  }

 private:
  [[noreturn]] static void Fail(int why) {
    Say(News::Kind::kFailed, why);
    ::_exit(0);
  }

  void MakeBox() {
    if (charge_.order.box.empty()) return;
    Status made = [&]() -> Status {
      if (make_box == nullptr) return stet::Fail(Code::kUnsupported, "this program makes no boxes");
      ASSIGN_OR_RETURN(box_, make_box(charge_.order.box));
      return box_->Prepare();
    }();
    if (!made) {
      SayRefused(made.error());
      Say(News::Kind::kExited, kCannotConfine);
      KillDescendants();
      box_.reset();
      ::_exit(0);
    }
    charge_.box = box_.get();
  }

  void StartInit() {
    const bool boxed = box_ && box_->MayHaveUserNamespace();
    for (const Apart apart : {Apart::kNamespace, Apart::kUserNamespace, Apart::kNone}) {
      if (apart != Apart::kNone && !charge_.order.own_processes) continue;
      if (apart == Apart::kUserNamespace && !boxed) continue;
      init_ = guard::StartInit(charge_, apart, signal_fd_);
      apart_ = apart;
      if (init_ >= 0) return;
    }
  }

  /// Waits for the next thing to happen. True when everything has to end.
  bool Over() {
    std::array<pollfd, 2> fds{{{.fd = signal_fd_, .events = POLLIN, .revents = 0},
                               {.fd = kControlFd, .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), -1);
    signalfd_siginfo ignored{};
    while (::read(signal_fd_, &ignored, sizeof ignored) == sizeof ignored) {
    }
    if (!Reap()) return true;
    if (fds[1].revents == 0) return false;
    unsigned char signal = 0;
    const ssize_t got = ::recv(kControlFd, &signal, 1, MSG_DONTWAIT);
    if (got < 0) return errno != EAGAIN && errno != EINTR;
    if (got == 0 || signal == SIGKILL) return true;
    Forward(signal);
    return false;
  }

  /// False when the command's parent has ended, and so all that it should have kept.
  [[nodiscard]] bool Reap() const {
    for (;;) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid == init_ || (pid < 0 && errno != EINTR)) return false;
      if (pid == 0) return true;
    }
  }

  void Forward(int signal) const {
    std::vector<Descendant> found = Descendants(::getpid(), BestSource());
    std::erase_if(found, [&](const Descendant& one) { return one.pid == init_; });
    ::kill(init_, SIGTERM);
    Signal(found, signal);
    Signal(found, SIGCONT);  // A stopped process would not hear of it.
  }

  Charge charge_;
  std::unique_ptr<Box> box_;
  const int signal_fd_;
  pid_t init_ = -1;
  Apart apart_ = Apart::kNone;
};

/// One that a keeper forked.
void BeGuard(Order order) {
  ::setsid();
  Guard({.order = std::move(order)}).Run();
}

/// Leaves only the name: a command that looks for processes by their arguments must not find us by
/// its own.
void HideArguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::memset(argv[i], 0, std::strlen(argv[i]));
  ::prctl(PR_SET_NAME, kName);
}

bool IsControlSocket() {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(kControlFd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace

bool Available() { return available; }

std::optional<News> Hear(int control) {
  News news;
  for (;;) {
    const ssize_t got = ::recv(control, &news, sizeof news, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof news) return std::nullopt;
    return news;
  }
}

void Ask(int control, int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t ignored = ::send(control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace guard

void BecomeGuardIfAsked(int argc, char** argv, guard::BoxMaker maker) {
  guard::available = true;
  guard::make_box = maker;
  if (argc != 2 || std::string_view(argv[0]) != guard::kName || !guard::IsControlSocket()) return;
  const std::string word = argv[1];
  guard::HideArguments(argc, argv);
  ::fcntl(guard::kControlFd, F_SETFD, FD_CLOEXEC);
  if (word == guard::kKeeperWord) guard::BeKeeper(guard::BeGuard);
  Result<guard::Order> order = guard::ReadOrder(guard::kOrderFd);
  ::close(guard::kOrderFd);
  if (!order) ::_exit(guard::kCannotConfine);
  guard::Guard({.order = *std::move(order), .new_session = false}).Run();
}

}  // namespace stet
