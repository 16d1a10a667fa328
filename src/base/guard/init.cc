#include "base/guard/init.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/fs.h"
#include "base/guard/descendants.h"
#include "base/guard/user_namespace.h"

namespace stet::guard {
namespace {

constexpr std::chrono::milliseconds kGrace{2000};
constexpr int kCannotRun = 126;  // As shells have it.
constexpr int kNoSuchCommand = 127;

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
[[noreturn]] void BeCommand(Charge& charge) {
  ::prctl(PR_SET_DUMPABLE, 1);  // Else its own /proc is root's, and a box cannot be made.
  if (charge.new_session) ::setsid();
  Order& order = charge.order;
  std::vector<char*> variables = Pointers(order.environment);
  environ = variables.data();
  if (const int why = WhyNot(order.command[0]); why != 0) {
    Say(News::Kind::kFailed, why);
    ::_exit(kCannotRun);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (charge.box != nullptr) {
    if (const Status entered = charge.box->Enter(order.command); !entered) {
      SayRefused(entered.error());
      ::_exit(kCannotConfine);
    }
  }
  Say(News::Kind::kStarted, 0);
  const std::vector<char*> argv = Pointers(order.command);
  ::execvp(argv[0], argv.data());
  const int why = errno;
  (void)WriteAll(STDERR_FILENO, fmt::format("stet: {}: {}\n", argv[0], std::strerror(why)));
  ::_exit(why == ENOENT ? kNoSuchCommand : kCannotRun);
}

class Init {
 public:
  Init(Apart apart, pid_t guard, int signal_fd)
      : apart_(apart), guard_(guard), signal_fd_(signal_fd) {}

  /// `ready` gets a byte when this process can be what it has to be; else it just ends.
  [[noreturn]] void Run(Charge& charge, uid_t user, gid_t group, int ready) {
    if (apart_ == Apart::kUserNamespace && !StayWhoWeAre(user, group)) ::_exit(0);
    if (in_namespace() && !MountOwnProc()) ::_exit(0);
    ::prctl(PR_SET_PDEATHSIG, in_namespace() ? SIGKILL : SIGHUP);
    if (!in_namespace()) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // A guard that died before it could be heard of does not read any more.
    if (::write(ready, "", 1) != 1) ::_exit(0);
    ::close(ready);
    command_ = ::fork();
    if (command_ == 0) BeCommand(charge);
    if (command_ < 0) {
      Say(News::Kind::kFailed, errno);
      ::_exit(0);
    }
    LetGo();
    Watch();
    if (!in_namespace()) KillDescendants();
    ::_exit(0);  // In a namespace the kernel kills the others now.
  }

 private:
  [[nodiscard]] bool in_namespace() const { return apart_ != Apart::kNone; }

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
      if (!in_namespace() && ::getppid() != guard_) return;
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

  const Apart apart_;
  const pid_t guard_;
  const int signal_fd_;
  pid_t command_ = -1;
  bool ended_ = false;
  bool asked_ = false;  // To stop: what is left has a while to do so.
  Deadline until_ = Deadline::Never();
};

unsigned long CloneFlags(Apart apart) {
  switch (apart) {
    case Apart::kNone: return SIGCHLD;
    case Apart::kNamespace: return SIGCHLD | CLONE_NEWPID | CLONE_NEWNS;
    case Apart::kUserNamespace:
      return SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | static_cast<unsigned long>(CLONE_NEWUSER);
  }
  return SIGCHLD;
}

}  // namespace

pid_t StartInit(Charge& charge, Apart apart, int signal_fd) {
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) return -1;
  const pid_t self = ::getpid();
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const pid_t pid = apart == Apart::kNone
                        ? ::fork()
                        : static_cast<pid_t>(::syscall(SYS_clone, CloneFlags(apart), 0, 0, 0, 0));
  if (pid == 0) {
    ::close(ready[0]);
    Init(apart, self, signal_fd).Run(charge, user, group, ready[1]);
  }
  ::close(ready[1]);
  char byte = 0;
  const bool started = pid > 0 && ::read(ready[0], &byte, 1) == 1;
  if (pid > 0 && !started) ::waitpid(pid, nullptr, 0);
  ::close(ready[0]);
  return started ? pid : -1;
}

void Say(News::Kind kind, std::int32_t value) {
  const News news{.kind = kind, .value = value};
  // Ignoring the error on purpose: the process that started the guard may be gone, and then no
  // reader is left.
  [[maybe_unused]] const ssize_t ignored =
      ::send(kControlFd, &news, sizeof news, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void SayRefused(const Error& why) {
  Say(News::Kind::kStarted, 0);
  (void)WriteAll(STDERR_FILENO,
                 fmt::format("stet: the command was not run in the sandbox: {}\n", why.Text()));
}

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

}  // namespace stet::guard
