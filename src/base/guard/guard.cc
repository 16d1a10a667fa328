#include "base/guard/guard.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard/descendants.h"

namespace stet {
namespace guard {
namespace {

constexpr const char* kName = "stet-guard";
constexpr std::string_view kSession = "session";
constexpr std::string_view kGroup = "group";
constexpr const char* kNoNamespace = "STET_NO_PID_NAMESPACE";
constexpr std::chrono::milliseconds kGrace{2000};
constexpr int kCannotRun = 126;  // As shells have it.

std::atomic<bool> available = false;

struct Plan {
  std::vector<std::string> command;
  bool new_session = false;
};

/// Guards hear signals through a descriptor only; nothing but SIGKILL and SIGSTOP can disturb them.
int BlockSignals() {
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// The command's input, output and folder are its own: the other ends must see when it drops them.
void LetGo() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0)
      ::dup2(null, fd);
    else
      ::close(fd);
  }
  if (null > STDERR_FILENO) ::close(null);
  [[maybe_unused]] const int ignored = ::chdir("/");
}

void Say(News::Kind kind, std::int32_t value) {
  const News news{.kind = kind, .value = value};
  // Ignoring the error on purpose: the process that started the guard may be gone, and then no
  // reader is left.
  [[maybe_unused]] const ssize_t ignored =
      ::send(kControlFd, &news, sizeof news, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// The /proc of our namespace over the one that is there. Only this mount is made private: what a
/// command mounts elsewhere goes where it would without a guard.
bool MountOwnProc() {
  return ::mount(nullptr, "/proc", nullptr, MS_PRIVATE, nullptr) == 0 &&
         ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Why it cannot be run: an errno; 0 when it can, as far as that is known without trying.
int WhyNot(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? 0 : errno;
  const char* path = ::getenv("PATH");
  std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
  int why = ENOENT;
  for (;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return 0;
    if (errno == EACCES) why = EACCES;
    if (end == rest.size()) return why;
    rest.remove_prefix(end + 1);
  }
}

/// In the process that is to be the command. It reports its own start, because once it runs it may
/// kill or stop the guard processes that could report it instead.
[[noreturn]] void BeCommand(Plan& plan) {
  if (plan.new_session)
    ::setsid();
  else
    ::setpgid(0, 0);
  if (const int why = WhyNot(plan.command[0]); why != 0) {
    Say(News::Kind::kFailed, why);
    ::_exit(kCannotRun);
  }
  Say(News::Kind::kStarted, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const std::vector<char*> argv = Pointers(plan.command);
  ::execvp(argv[0], argv.data());
  ::_exit(kCannotRun);
}

/// The command's parent.
class Init {
 public:
  Init(bool in_namespace, pid_t guard, int signal_fd)
      : in_namespace_(in_namespace), guard_(guard), signal_fd_(signal_fd) {}

  /// `ready` gets a byte when this process can be what it has to be; else it just ends.
  [[noreturn]] void Run(Plan& plan, int ready) {
    if (in_namespace_ && !MountOwnProc()) ::_exit(0);
    ::prctl(PR_SET_PDEATHSIG, in_namespace_ ? SIGKILL : SIGHUP);
    if (!in_namespace_) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // A guard that died before it could be heard of does not read any more.
    if (::write(ready, "", 1) != 1) ::_exit(0);
    ::close(ready);
    command_ = ::fork();
    if (command_ == 0) BeCommand(plan);
    if (command_ < 0) {
      Say(News::Kind::kFailed, errno);
      ::_exit(0);
    }
    LetGo();
    Watch();
    if (!in_namespace_) KillDescendants();
    ::_exit(0);  // In a namespace the kernel kills the others now.
  }

 private:
  /// Until it is time to kill what is left.
  void Watch() {
    for (;;) {
      // Without events: only the end of the other side counts, and the guard reads.
      std::array<pollfd, 2> fds{{{.fd = signal_fd_, .events = POLLIN, .revents = 0},
                                 {.fd = kControlFd, .events = 0, .revents = 0}}};
      ::poll(fds.data(), fds.size(), until_.PollTimeout());
      if (fds[1].revents != 0 || until_.Passed()) return;
      signalfd_siginfo signal{};
      while (::read(signal_fd_, &signal, sizeof signal) == sizeof signal)
        asked_ = asked_ || signal.ssi_signo == SIGTERM;
      if (!in_namespace_ && ::getppid() != guard_) return;
      const bool any_left = Reap();
      if (ended_ && (!asked_ || !any_left)) return;
    }
  }

  /// False when there is no child left.
  bool Reap() {
    for (;;) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0) {
        if (errno == EINTR) continue;
        return false;
      }
      if (info.si_pid == 0) return true;
      if (info.si_pid != command_ || ended_) continue;
      Say(info.si_code == CLD_EXITED ? News::Kind::kExited : News::Kind::kSignalled,
          info.si_status);
      ended_ = true;
      until_ = Deadline::After(kGrace);
    }
  }

  const bool in_namespace_;
  const pid_t guard_;
  const int signal_fd_;
  pid_t command_ = -1;
  bool ended_ = false;
  bool asked_ = false;  // To stop: what is left has a while to do so.
  Deadline until_ = Deadline::Never();
};

class Guard {
 public:
  explicit Guard(Plan plan) : plan_(std::move(plan)), signal_fd_(BlockSignals()) {}

  [[noreturn]] void Run() {
    if (::getenv(kNoNamespace) == nullptr) StartInit(true);
    if (init_ < 0) StartInit(false);
    if (init_ < 0) {
      Say(News::Kind::kFailed, EAGAIN);
      ::_exit(0);
    }
    LetGo();
    while (!Over()) {
    }
    if (in_namespace_) ::kill(init_, SIGKILL);
    KillDescendants();
    ::_exit(0);
  }

 private:
  void StartInit(bool in_namespace) {
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) return;
    const pid_t self = ::getpid();
    const unsigned long flags =
        SIGCHLD | (in_namespace ? static_cast<unsigned long>(CLONE_NEWPID | CLONE_NEWNS) : 0UL);
    const pid_t pid =
        in_namespace ? static_cast<pid_t>(::syscall(SYS_clone, flags, 0, 0, 0, 0)) : ::fork();
    if (pid == 0) {
      ::close(ready[0]);
      Init(in_namespace, self, signal_fd_).Run(plan_, ready[1]);
    }
    ::close(ready[1]);
    char byte = 0;
    if (pid > 0 && ::read(ready[0], &byte, 1) == 1) {
      init_ = pid;
      in_namespace_ = in_namespace;
    } else if (pid > 0) {
      ::waitpid(pid, nullptr, 0);
    }
    ::close(ready[0]);
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

  Plan plan_;
  const int signal_fd_;
  pid_t init_ = -1;
  bool in_namespace_ = false;
};

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

std::vector<std::string> Arguments(std::vector<std::string> command, bool new_session) {
  std::vector<std::string> arguments{kName, std::string(new_session ? kSession : kGroup)};
  std::ranges::move(command, std::back_inserter(arguments));
  return arguments;
}

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

void BecomeGuardIfAsked(int argc, char** argv) {
  guard::available = true;
  if (argc < 3 || std::string_view(argv[0]) != guard::kName || !guard::IsControlSocket()) return;
  ::fcntl(guard::kControlFd, F_SETFD, FD_CLOEXEC);
  guard::Plan plan{.command = {argv + 2, argv + argc}, .new_session = argv[1] == guard::kSession};
  guard::HideArguments(argc, argv);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  guard::Guard(std::move(plan)).Run();
}

}  // namespace stet
