#include "base/guard/here.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/fd.h"

namespace stet::guard {
namespace {

/// Above the numbers that it is copied to.
Result<Fd> Lifted(int fd) {
  Fd lifted(::fcntl(fd, F_DUPFD_CLOEXEC, kOrderFd + 1));
  if (!lifted) return FailSystem(errno, "start a guard");
  return lifted;
}

Result<pid_t> Spawn(int control, int order) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  int error = ::posix_spawn_file_actions_adddup2(&actions, control, kControlFd);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, order, kOrderFd);
  if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions, kOrderFd + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string name = kName;
  std::string word = kHereWord;
  const std::array<char*, 3> argv{name.data(), word.data(), nullptr};
  std::array<char*, 1> no_variables{nullptr};
  pid_t pid = -1;
  if (error == 0)
    error = ::posix_spawn(&pid, kProgram, &actions, &attributes, argv.data(), no_variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return FailSystem(error, "start a guard");
  return pid;
}

}  // namespace

Result<News> RunHere(const Order& order) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return FailSystem(errno, "make a socket");
  const Fd ours(ends[0]);
  Fd guards(ends[1]);
  ASSIGN_OR_RETURN(const Fd control, Lifted(guards.get()));
  ASSIGN_OR_RETURN(const Fd file, WriteOrder(order));
  ASSIGN_OR_RETURN(const Fd order_file, Lifted(file.get()));
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(control.get(), order_file.get()));
  guards.reset();
  while (::waitpid(pid, nullptr, 0) < 0) {
    if (errno != EINTR) return FailSystem(errno, "wait for the command");
  }
  // It was killed when it could not say how the command ended.
  News last{.kind = News::Kind::kSignalled, .value = SIGKILL};
  while (const auto news = Hear(ours.get())) {
    if (news->kind != News::Kind::kStarted) last = *news;
  }
  return last;
}

}  // namespace stet::guard
