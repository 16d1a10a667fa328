#include "base/lock.h"

#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/plain_file.h"
#include "base/version.h"

namespace stet {

namespace {

constexpr std::size_t kMaxHolderLine = 256;
constexpr int kMaxOpenTries = 8;
constexpr int kNamePollMs = 1;

struct flock WholeFile() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool IsHeld(int fd) {
  struct flock lock = WholeFile();
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// When the process started, in clock ticks since boot: together with the pid it is never reused.
std::optional<std::uint64_t> StartTicks(std::int64_t pid) {
  constexpr std::size_t kMaxStatLine = 4096;
  constexpr int kFieldsAfterName = 20;  // From the state (3) to starttime (22).
  const auto stat = ReadFile(fmt::format("/proc/{}/stat", pid), kMaxStatLine);
  if (!stat) return std::nullopt;
  // The second field is the program's name in parentheses, which may hold anything.
  std::size_t at = stat->rfind(')');
  for (int field = 0; field < kFieldsAfterName && at != std::string::npos; ++field)
    at = stat->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t ticks = 0;
  const char* const end = stat->data() + stat->size();
  if (std::from_chars(stat->data() + at + 1, end, ticks).ec != std::errc()) return std::nullopt;
  return ticks;
}

/// What the file says of its holder.
struct Named {
  LockHolder holder;
  bool complete = false;  // Else it has not written its line yet.
  bool alive = false;     // Else its successor has the lock, or a child that it left behind.
};

Named ReadHolder(int fd) {
  std::string line(kMaxHolderLine, '\0');
  const auto got = Pread(fd, line, 0);
  if (!got) return {};
  line.resize(*got);
  if (line.empty() || line.back() != '\n') return {};
  line.pop_back();

  Named named;
  std::uint64_t ticks = 0;
  const char* const end = line.data() + line.size();
  const auto pid = std::from_chars(line.data(), end, named.holder.pid);
  if (pid.ec != std::errc() || pid.ptr == end) return {};
  const auto start = std::from_chars(pid.ptr + 1, end, ticks);
  if (start.ec != std::errc() || start.ptr == end) return {};
  named.holder.version.assign(start.ptr + 1, end);
  named.complete = true;
  named.alive = StartTicks(named.holder.pid) == ticks;
  return named;
}

/// Waits up to kNameWait for the holder's line, and up to `remnant_wait` for the end of what a dead
/// holder left. Nothing: the lock is free after all.
std::optional<LockHolder> AwaitHolder(int fd, std::chrono::milliseconds remnant_wait) {
  const Deadline name = Deadline::After(FileLock::kNameWait);
  const Deadline remnant = Deadline::After(remnant_wait);
  for (;;) {
    Named named = ReadHolder(fd);
    // Asked after reading, so a line is never taken from one who has let go.
    if (!IsHeld(fd)) return std::nullopt;
    if (named.alive) return std::move(named.holder);
    if (named.complete ? remnant.Passed() : name.Passed()) return LockHolder();
    ::poll(nullptr, 0, kNamePollMs);
  }
}

/// False when the name was given to another file between open and lock.
bool IsStillAt(const std::string& path, int fd) {
  const auto here = StatFd(fd);
  const auto there = StatFile(path);
  return here && there && here->inode == there->inode && here->device == there->device;
}

Status WriteHolder(int fd) {
  const std::int64_t pid = ::getpid();
  const std::string line =
      fmt::format("{} {} {}\n", pid, StartTicks(pid).value_or(0), ProgramVersion());
  if (::ftruncate(fd, 0) != 0) return FailSystem(errno, "truncate");
  return WriteAll(fd, line);
}

Error BusyError(const std::string& path, const LockHolder& holder) {
  const std::string who = holder.pid == 0
                              ? "another process"
                              : fmt::format("process {} (stet {})", holder.pid, holder.version);
  return Error(Code::kBusy, fmt::format("{} is held by {}", path, who));
}

}  // namespace

Result<FileLock> FileLock::Acquire(const std::string& path) {
  for (int tries = 0; tries < kMaxOpenTries; ++tries) {
    ASSIGN_OR_RETURN(Fd fd, OpenPlainFile(path, O_RDWR | O_CREAT));
    struct flock lock = WholeFile();
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno == ENOLCK || errno == EINVAL || errno == ENOSYS)
        return Fail(Code::kUnsupported,
                    fmt::format("lock {}: the file system has no locks; use another one", path));
      if (errno != EAGAIN && errno != EACCES) return FailSystem(errno, "lock " + path);
      const auto holder = AwaitHolder(fd.get(), kRemnantWait);
      if (!holder) continue;
      return std::unexpected(BusyError(path, *holder));
    }
    if (!IsStillAt(path, fd.get())) continue;
    // The lock holds without the line, so a full disk costs no more than the holder's name.
    [[maybe_unused]] const auto ignored = WriteHolder(fd.get());
    return FileLock(std::move(fd));
  }
  return std::unexpected(BusyError(path, {}));
}

std::optional<LockHolder> FileLock::Holder(const std::string& path) {
  const auto fd = OpenPlainFile(path, O_RDONLY);
  if (!fd || !IsHeld(fd->get())) return std::nullopt;
  return AwaitHolder(fd->get(), kNameWait);
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  Release();
  fd_ = std::move(other.fd_);
  return *this;
}

void FileLock::Release() {
  if (!fd_) return;
  // Emptied under the lock, so that no line is left that names a living process which let go.
  [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), 0);
  fd_.reset();
}

}  // namespace stet
