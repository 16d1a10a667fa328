#include "bench/cost.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "bench/measure.h"

namespace stet::bench {
namespace {

double Milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1000 + static_cast<double>(time.tv_usec) / 1000;
}

/// Its standard output is `out`.
Result<pid_t> Spawn(const std::vector<std::string>& argv, int out) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return FailSystem(error, "start " + argv[0]);
  return pid;
}

std::string ReadToEnd(int fd) {
  std::string text;
  std::array<char, 4096> bytes;
  while (true) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<Cost> RunMeasured(const std::vector<std::string>& argv) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailSystem(errno, "make a pipe");
  const Fd read(ends[0]);
  Fd write(ends[1]);
  Cost cost;
  cost.started_us = std::chrono::duration_cast<std::chrono::microseconds>(
                        std::chrono::steady_clock::now().time_since_epoch())
                        .count();
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(argv, write.get()));
  write.reset();
  cost.out = ReadToEnd(read.get());
  int status = 0;
  rusage used{};
  while (::wait4(pid, &status, 0, &used) < 0) {
    if (errno != EINTR) return FailSystem(errno, "wait for " + argv[0]);
  }
  cost.wall_ms = watch.ms();
  cost.cpu_ms = Milliseconds(used.ru_utime) + Milliseconds(used.ru_stime);
  cost.rss_kb = static_cast<std::uint64_t>(used.ru_maxrss);
  if (status != 0) return Fail(Code::kIo, fmt::format("{} failed: {}", argv[0], cost.out));
  return cost;
}

}  // namespace stet::bench
