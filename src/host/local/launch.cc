#include "host/local/launch.h"

#include <csignal>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

namespace stet::host {
namespace {

using protocol::HostLaunch;

std::vector<std::string> ServeArguments(const HostLaunch& launch, int ready_fd) {
  std::vector<std::string> arguments = {OwnProgram(),
                                        "host",
                                        "serve",
                                        "--launched",
                                        launch.launched,
                                        "--ready-fd",
                                        std::to_string(ready_fd)};
  const auto add = [&](const char* flag, const protocol::OptionalText& value) {
    if (value) arguments.insert(arguments.end(), {flag, *value});
  };
  add("--listen", launch.listen);
  add("--certificate", launch.certificate);
  add("--key", launch.key);
  if (launch.exposed) arguments.emplace_back("--expose");
  return arguments;
}

/// In a session of its own, away from this terminal, with the root as its folder.
Result<pid_t> Detach(const std::vector<std::string>& arguments, int ready_fd,
                     const std::string& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  ::posix_spawn_file_actions_adddup2(&actions, ready_fd, 3);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return FailSystem(error, "start the host");
  return pid;
}

/// Those that this process launched and that have died are let go of when the next one is launched.
void ReapLaunched(pid_t launched) {
  static std::mutex mutex;
  static std::vector<pid_t> children;
  const std::lock_guard lock(mutex);
  std::erase_if(children, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
  children.push_back(launched);
}

std::string StartErrors(const config::Roots& roots) { return roots.host_log() + ".start"; }

}  // namespace

std::string OwnProgram() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  constexpr std::string_view kGone = " (deleted)";
  if (path.ends_with(kGone)) path.resize(path.size() - kGone.size());
  return path;
}

Result<pid_t> Launch(const config::Roots& roots, const HostLaunch& launch, Fd& ready) {
  RETURN_IF_ERROR(MakeDirs(roots.data));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailSystem(errno, "make a pipe");
  ready.reset(ends[0]);
  const Fd write(ends[1]);
  ASSIGN_OR_RETURN(const pid_t pid,
                   Detach(ServeArguments(launch, 3), write.get(), StartErrors(roots)));
  ReapLaunched(pid);
  return pid;
}

bool AwaitReady(int ready_fd) {
  const Deadline deadline = Deadline::After(kStartTime);
  while (true) {
    pollfd wanted{ready_fd, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(deadline.Left().count())) > 0) {
      char byte = 0;
      return ::read(ready_fd, &byte, 1) == 1;
    }
    if (deadline.Passed()) return false;
  }
}

Error NotStarted(const config::Roots& roots) {
  std::string why = ReadFile(StartErrors(roots), 4096).value_or("");
  while (why.ends_with('\n')) why.pop_back();
  return {Code::kUnavailable,
          fmt::format("the host did not start: {}", why.empty() ? "see stet host logs" : why)};
}

}  // namespace stet::host
