// A fault shim, preloaded into a writer: counts the calls that change or flush files (write,
// pwrite, fdatasync, fsync, ftruncate, rename, link, unlink; pipes and terminals do not count) and
// makes one of them go wrong. Environment:
//   STET_SHIM_AT=N      the call, from 1
//   STET_SHIM_DO=WHAT   kill_before, kill_half (a prefix of the bytes is written first),
//   kill_after,
//                       enospc, eio, short (a prefix is written, which is reported)
//   STET_SHIM_ONLY=A,B  counts only these calls
//   STET_SHIM_PATH=TEXT counts only calls on paths that hold it
//   STET_SHIM_ON=1      every call from N on goes wrong
//   STET_SHIM_LOG=FILE  gets one line per call, "fdatasync /a/b" or "write /a/b 12"; before the one
//                       that goes wrong "fault write /a/b"; and what the program says on its
//                       standard output as "said TEXT"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

enum class Fault { kNone, kKillBefore, kKillHalf, kKillAfter, kNoSpace, kIoError, kShort };

struct Plan {
  long at = 0;
  Fault fault = Fault::kNone;
  bool on = false;
  const char* only = nullptr;
  const char* path = nullptr;
  int log_fd = -1;
};

const char* Env(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

Plan ReadPlan() {
  Plan plan;
  if (const char* at = Env("STET_SHIM_AT")) plan.at = std::atol(at);
  plan.on = Env("STET_SHIM_ON") != nullptr;
  plan.only = Env("STET_SHIM_ONLY");
  plan.path = Env("STET_SHIM_PATH");
  if (const char* log = Env("STET_SHIM_LOG"))
    plan.log_fd = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  constexpr struct {
    const char* name;
    Fault fault;
  } kFaults[] = {{"kill_before", Fault::kKillBefore},
                 {"kill_half", Fault::kKillHalf},
                 {"kill_after", Fault::kKillAfter},
                 {"enospc", Fault::kNoSpace},
                 {"eio", Fault::kIoError},
                 {"short", Fault::kShort}};
  if (const char* what = Env("STET_SHIM_DO")) {
    for (const auto& one : kFaults) {
      if (std::strcmp(what, one.name) == 0) plan.fault = one.fault;
    }
  }
  return plan;
}

const Plan& ThePlan() {
  static const Plan plan = ReadPlan();
  return plan;
}

std::atomic<long> calls = 0;

[[noreturn]] void Die() {
  ::syscall(SYS_kill, ::getpid(), SIGKILL);
  for (;;) ::pause();
}

__attribute__((format(printf, 1, 2))) void Note(const char* format, ...) {
  if (ThePlan().log_fd < 0) return;
  char line[PATH_MAX + 512];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (size > 0) ::syscall(SYS_write, ThePlan().log_fd, line, static_cast<std::size_t>(size));
}

bool IsFile(int fd) {
  struct stat found{};
  return ::fstat(fd, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

void PathOf(int fd, char* path, std::size_t size) {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link, path, size - 1);
  path[length > 0 ? length : 0] = '\0';
}

bool Listed(const char* names, const char* name) {
  const std::size_t size = std::strlen(name);
  for (const char* at = std::strstr(names, name); at != nullptr; at = std::strstr(at + 1, name)) {
    const bool starts = at == names || at[-1] == ',';
    if (starts && (at[size] == '\0' || at[size] == ',')) return true;
  }
  return false;
}

/// What is to go wrong with this call.
Fault Meet(const char* name, const char* path) {
  const Plan& plan = ThePlan();
  if (plan.only != nullptr && !Listed(plan.only, name)) return Fault::kNone;
  if (plan.path != nullptr && std::strstr(path, plan.path) == nullptr) return Fault::kNone;
  const long number = ++calls;
  if (plan.fault == Fault::kNone || plan.at == 0) return Fault::kNone;
  const bool now = plan.on ? number >= plan.at : number == plan.at;
  if (now) Note("fault %s %s\n", name, path);
  return now ? plan.fault : Fault::kNone;
}

template <class Call>
Call Next(const char* name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

/// A call that moves bytes; `move(n)` moves the first n of them.
template <class Move>
ssize_t MoveBytes(const char* name, int fd, std::size_t size, Move move) {
  if (!IsFile(fd)) return move(size);
  char path[PATH_MAX];
  PathOf(fd, path, sizeof path);
  const Fault fault = Meet(name, path);
  Note("%s %s %zu\n", name, path, size);
  switch (fault) {
    case Fault::kKillBefore: Die();
    case Fault::kKillHalf: (void)move(size / 2); Die();
    case Fault::kKillAfter: (void)move(size); Die();
    case Fault::kNoSpace: errno = ENOSPC; return -1;
    case Fault::kIoError: errno = EIO; return -1;
    case Fault::kShort: return move(size > 1 ? size / 2 : size);
    case Fault::kNone: return move(size);
  }
  return -1;
}

/// A call that is done or not done.
template <class Act>
int Do(const char* name, const char* path, Act act) {
  const Fault fault = Meet(name, path);
  Note("%s %s\n", name, path);
  switch (fault) {
    case Fault::kKillBefore:
    case Fault::kKillHalf: Die();
    case Fault::kKillAfter: (void)act(); Die();
    case Fault::kNoSpace: errno = ENOSPC; return -1;
    case Fault::kIoError: errno = EIO; return -1;
    case Fault::kShort:
    case Fault::kNone: return act();
  }
  return -1;
}

template <class Act>
int DoOnFd(const char* name, int fd, Act act) {
  if (!IsFile(fd)) return act();
  char path[PATH_MAX];
  PathOf(fd, path, sizeof path);
  return Do(name, path, act);
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  static const auto next = Next<ssize_t (*)(int, const void*, size_t)>("write");
  if (fd == STDOUT_FILENO && !IsFile(fd))
    Note("said %.*s", static_cast<int>(size), static_cast<const char*>(bytes));
  return MoveBytes("write", fd, size, [&](size_t n) { return next(fd, bytes, n); });
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto next = Next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return MoveBytes("pwrite", fd, size, [&](size_t n) { return next(fd, bytes, n, offset); });
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  return pwrite(fd, bytes, size, offset);
}

int fdatasync(int fd) {
  static const auto next = Next<int (*)(int)>("fdatasync");
  return DoOnFd("fdatasync", fd, [&] { return next(fd); });
}

int fsync(int fd) {
  static const auto next = Next<int (*)(int)>("fsync");
  return DoOnFd("fsync", fd, [&] { return next(fd); });
}

int ftruncate(int fd, off_t size) noexcept {
  static const auto next = Next<int (*)(int, off_t)>("ftruncate");
  return DoOnFd("ftruncate", fd, [&] { return next(fd, size); });
}

int ftruncate64(int fd, off64_t size) noexcept { return ftruncate(fd, size); }

int rename(const char* from, const char* to) noexcept {
  static const auto next = Next<int (*)(const char*, const char*)>("rename");
  return Do("rename", to, [&] { return next(from, to); });
}

int link(const char* from, const char* to) noexcept {
  static const auto next = Next<int (*)(const char*, const char*)>("link");
  return Do("link", to, [&] { return next(from, to); });
}

int unlink(const char* path) noexcept {
  static const auto next = Next<int (*)(const char*)>("unlink");
  return Do("unlink", path, [&] { return next(path); });
}

}  // extern "C"
