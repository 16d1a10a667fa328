#include "base/guard/keeper.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard/guard.h"

namespace stet::guard {
namespace {

/// For a keeper to answer, on a machine with too much to do.
constexpr timeval kPatience{.tv_sec = 20, .tv_usec = 0};
/// The order, the control socket, and the command's three.
constexpr std::size_t kHandedFds = 5;

struct Answer {
  std::int32_t pid = -1;
  std::int32_t why_not = 0;  // An errno.
};

/// Descriptors in one message, with bytes that go before them.
class Message {
 public:
  Message(void* bytes, std::size_t size) : bytes_{.iov_base = bytes, .iov_len = size} {
    header_.msg_iov = &bytes_;
    header_.msg_iovlen = 1;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool Send(int socket, std::span<const int> fds) {
    if (!fds.empty()) {
      header_.msg_control = room_.data();
      header_.msg_controllen = CMSG_SPACE(fds.size_bytes());
      cmsghdr* control = CMSG_FIRSTHDR(&header_);
      control->cmsg_level = SOL_SOCKET;
      control->cmsg_type = SCM_RIGHTS;
      control->cmsg_len = CMSG_LEN(fds.size_bytes());
      std::memcpy(CMSG_DATA(control), fds.data(), fds.size_bytes());
    }
    ssize_t sent = -1;
    do {
      sent = ::sendmsg(socket, &header_, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(bytes_.iov_len);
  }

  /// Nothing when the other side has closed, or sent something else.
  std::optional<std::vector<Fd>> Receive(int socket) {
    header_.msg_control = room_.data();
    header_.msg_controllen = room_.size();
    ssize_t got = -1;
    do {
      got = ::recvmsg(socket, &header_, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    std::vector<Fd> fds;
    for (cmsghdr* control = got < 0 ? nullptr : CMSG_FIRSTHDR(&header_); control != nullptr;
         control = CMSG_NXTHDR(&header_, control)) {
      if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
      for (std::size_t at = 0; at + CMSG_LEN(0) < control->cmsg_len; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(control) + at, sizeof fd);
        fds.emplace_back(fd);
      }
    }
    if (got != static_cast<ssize_t>(bytes_.iov_len)) return std::nullopt;
    return fds;
  }

 private:
  iovec bytes_;
  msghdr header_{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kHandedFds * sizeof(int))> room_{};
};

// ---- Ours.

/// The one of this process. Never destroyed: the socket closes when we end.
class Keeper {
 public:
  Result<Started> Ask(const std::array<int, kHandedFds>& fds) {
    const std::lock_guard lock(mutex_);
    // One that was ended is started anew, once: a command without a namespace may have killed it.
    for (const bool again : {false, true}) {
      if (!socket_) RETURN_IF_ERROR(Start());
      char word = 0;
      Answer answer;
      Message order(&word, sizeof word);
      Message reply(&answer, sizeof answer);
      if (order.Send(socket_.get(), fds)) {
        if (auto got = reply.Receive(socket_.get())) {
          if (answer.pid < 0 || got->size() != 1)
            return FailSystem(answer.why_not, "start a guard");
          return Started{.pid = answer.pid, .pidfd = std::move(got->front())};
        }
      }
      const int why = errno;
      End();
      if (again) return FailSystem(why, "start a guard");
    }
    return Fail(Code::kUnavailable, "start a guard: there is no keeper");
  }

 private:
  Status Start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return FailSystem(errno, "make a socket");
    Fd ours(ends[0]);
    const Fd keepers(ends[1]);
    ::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    RETURN_IF_ERROR(Spawn(keepers.get()));
    socket_ = std::move(ours);
    return {};
  }

  Status Spawn(int socket) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    // Where it stands is lifted first: it might be one of those that are replaced.
    const Fd lifted(::fcntl(socket, F_DUPFD_CLOEXEC, kControlFd + 1));
    int error = lifted ? 0 : errno;
    const auto keep = [&error](int result) { error = error == 0 ? result : error; };
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      keep(::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0));
    keep(::posix_spawn_file_actions_adddup2(&actions, lifted.get(), kControlFd));
    keep(::posix_spawn_file_actions_addclosefrom_np(&actions, kControlFd + 1));
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    std::string name = kName;
    std::string word = kKeeperWord;
    const std::array<char*, 3> argv{name.data(), word.data(), nullptr};
    std::array<char*, 1> no_variables{nullptr};
    if (error == 0)
      error =
          ::posix_spawn(&pid_, kProgram, &actions, &attributes, argv.data(), no_variables.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return FailSystem(error, "start a keeper");
    return {};
  }

  void End() {
    socket_.reset();
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  std::mutex mutex_;
  Fd socket_;
  pid_t pid_ = -1;
};

Keeper& TheKeeper() {
  static auto* keeper = new Keeper;
  return *keeper;
}

// ---- The keeper's.

/// In the process that is to be a guard.
[[noreturn]] void BecomeGuard(std::vector<Fd> handed, void (*be_guard)(Order)) {
  ::signal(SIGCHLD, SIG_DFL);
  const Result<Order> order = ReadOrder(handed[0].get());
  if (!order) ::_exit(0);
  // All of them were received at numbers above these four.
  ::dup2(handed[1].get(), kControlFd);
  ::fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd)
    ::dup2(handed[2 + static_cast<std::size_t>(fd)].get(), fd);
  for (Fd& fd : handed) fd.reset();
  be_guard(*order);
  ::_exit(0);
}

}  // namespace

Result<Started> StartGuard(const Order& order, const Ends& ends) {
  ASSIGN_OR_RETURN(const Fd file, WriteOrder(order));
  return TheKeeper().Ask({file.get(), ends.control, ends.in, ends.out, ends.err});
}

void BeKeeper(void (*be_guard)(Order)) {
  ::prctl(PR_SET_DUMPABLE, 0);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;  // Guards that have ended leave nothing.
  ::sigaction(SIGCHLD, &ignore, nullptr);
  for (;;) {
    char word = 0;
    Message message(&word, sizeof word);
    std::optional<std::vector<Fd>> handed = message.Receive(kControlFd);
    if (!handed) ::_exit(0);
    if (handed->size() != kHandedFds) continue;
    // With its descriptor at once: a guard may have ended by the time we look for it by its number.
    int opened = -1;
    const auto pid =
        static_cast<pid_t>(::syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &opened, 0, 0));
    if (pid == 0) BecomeGuard(*std::move(handed), be_guard);
    Answer answer{.pid = pid, .why_not = pid < 0 ? errno : 0};
    const Fd pidfd(pid < 0 ? -1 : opened);
    const std::array<int, 1> one{pidfd.get()};
    Message reply(&answer, sizeof answer);
    reply.Send(kControlFd, pidfd ? std::span<const int>(one) : std::span<const int>());
  }
}

}  // namespace stet::guard
