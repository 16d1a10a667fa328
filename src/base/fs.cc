#include "base/fs.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"

namespace stet {

std::unexpected<Error> FailPath(const char* verb, const std::string& path) {
  return FailSystem(errno, fmt::format("{} {}", verb, path));
}

namespace {

constexpr std::size_t kTempNameLength = 16;
constexpr int kMaxTempTries = 16;

/// Repeats a system call for as long as a signal interrupts it.
template <class Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

FileStat ToFileStat(const struct stat& from) {
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  FileStat to;
  to.size = static_cast<std::uint64_t>(from.st_size);
  to.mtime_ms = from.st_mtim.tv_sec * 1000 + from.st_mtim.tv_nsec / 1'000'000;
  to.mtime_ns = from.st_mtim.tv_sec * kNanosPerSecond + from.st_mtim.tv_nsec;
  to.mode = from.st_mode & 07777;
  to.is_dir = S_ISDIR(from.st_mode);
  to.is_file = S_ISREG(from.st_mode);
  to.inode = from.st_ino;
  to.device = from.st_dev;
  to.links = from.st_nlink;
  to.block_bytes =
      static_cast<std::uint64_t>(from.st_blocks) * 512;  // Always 512, see stat(3type).
  return to;
}

/// A file under a temporary name beside its target; removed unless it got its final name.
class TempFile {
 public:
  static Result<TempFile> Make(const std::string& target, mode_t mode) {
    const std::string folder = ParentDir(target);
    for (int tries = 0; tries < kMaxTempTries; ++tries) {
      const std::string name = RandomName(ProcessRandom(), kTempNameLength);
      TempFile file;
      file.path_ = fmt::format("{}/{}{}", folder, kTempFilePrefix, name);
      auto fd = OpenFile(file.path_, O_WRONLY | O_CREAT | O_EXCL, mode);
      if (fd) {
        file.fd_ = *std::move(fd);
        return file;
      }
      if (fd.error().code != Code::kConflict) return std::unexpected(std::move(fd).error());
    }
    return Fail(Code::kConflict, fmt::format("no free temporary name in {}", folder));
  }

  TempFile(TempFile&&) noexcept = default;
  TempFile& operator=(TempFile&&) = delete;
  ~TempFile() {
    if (fd_) ::unlink(path_.c_str());  // Ignoring errors on purpose: the name says what it is.
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  Status Flush() const {
    if (Retry([&] { return ::fsync(fd()); }) != 0) return FailPath("flush", path_);
    return {};
  }

  /// Takes the target's place.
  Status Replace(const std::string& target) {
    RETURN_IF_ERROR(Rename(path_, target));
    fd_.reset();
    return {};
  }

 private:
  TempFile() = default;

  std::string path_;
  Fd fd_;  // Empty: nothing to remove.
};

Status CopyBytes(int from, int to, const std::string& path) {
  constexpr std::size_t kCopyPiece = std::size_t{1} << 30;
  for (;;) {
    const ssize_t sent = Retry([&] { return ::sendfile(to, from, nullptr, kCopyPiece); });
    if (sent < 0) return FailPath("copy", path);
    if (sent == 0) return {};
  }
}

Status CopyFile(const std::string& from, const std::string& to, Durable durable) {
  ASSIGN_OR_RETURN(const Fd source, OpenFile(from, O_RDONLY));
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(source.get()));
  if (!stat.is_file) return Fail(Code::kInvalid, fmt::format("copy {}: not a file", from));
  ASSIGN_OR_RETURN(const TempFile copy, TempFile::Make(to, 0600));
  RETURN_IF_ERROR(CopyBytes(source.get(), copy.fd(), from));
  if (::fchmod(copy.fd(), stat.mode) != 0) return FailPath("set the mode of", copy.path());
  if (durable == Durable::kYes) RETURN_IF_ERROR(copy.Flush());
  // A link and not a rename, which would replace `to`; the temporary name goes with `copy`. File
  // systems without links (FAT) have RENAME_NOREPLACE.
  if (::link(copy.path().c_str(), to.c_str()) == 0) return {};
  if (errno != EEXIST &&
      ::renameat2(AT_FDCWD, copy.path().c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  return FailPath("create", to);
}

}  // namespace

Result<Fd> OpenFile(const std::string& path, int flags, mode_t mode) {
  const int fd = Retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
  if (fd < 0) return FailPath("open", path);
  return Fd(fd);
}

Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes) {
  // Without O_NONBLOCK a FIFO would make this wait for a writer.
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd.get()));
  if (stat.is_dir) return Fail(Code::kInvalid, fmt::format("read {}: it is a folder", path));
  const auto too_large = [&] {
    return Fail(Code::kInvalid, fmt::format("read {}: larger than {} bytes", path, max_bytes));
  };
  if (stat.size > max_bytes) return too_large();

  // One byte more than expected lets the last read see the end without growing the buffer; files
  // in /proc say 0 and are grown as they come.
  constexpr std::size_t kLeastPiece = 4096;
  std::string bytes;
  std::size_t size = 0;
  bytes.resize(stat.size + 1);
  for (;;) {
    const ssize_t got =
        Retry([&] { return ::read(fd.get(), bytes.data() + size, bytes.size() - size); });
    if (got < 0) return FailPath("read", path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > max_bytes) return too_large();
    if (stat.is_file && size == stat.size)
      break;  // As large as it said: listing reads thousands of small files.
    if (size == bytes.size()) bytes.resize(std::max(kLeastPiece, size * 2));
  }
  bytes.resize(size);
  return bytes;
}

Status ReplaceFile(const std::string& path, std::string_view bytes, Durable durable, mode_t mode) {
  std::optional<mode_t> kept;
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode)) kept = there.st_mode & 07777;
  // No other user may read what the old file hid from them, not even for a moment.
  ASSIGN_OR_RETURN(TempFile file, TempFile::Make(path, kept ? 0600 : mode));
  if (auto written = WriteAll(file.fd(), bytes); !written)
    return std::unexpected(std::move(written).error().While("writing " + path));
  // Only root may give a file away. When we cannot, it stays ours: then it must not be setuid or
  // setgid, which would run it as us.
  if (kept && ::fchown(file.fd(), there.st_uid, there.st_gid) != 0) *kept &= 0777;
  if (kept && ::fchmod(file.fd(), *kept) != 0) return FailPath("set the mode of", file.path());
  if (durable == Durable::kYes) RETURN_IF_ERROR(file.Flush());
  RETURN_IF_ERROR(file.Replace(path));
  if (durable == Durable::kYes) RETURN_IF_ERROR(SyncDir(ParentDir(path)));
  return {};
}

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = Retry([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (written < 0) return FailSystem(errno, "write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::size_t> Pread(int fd, std::span<char> buffer, std::uint64_t offset) {
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = Retry([&] {
      return ::pread(fd, buffer.data() + size, buffer.size() - size,
                     static_cast<off_t>(offset + size));
    });
    if (got < 0) return FailSystem(errno, "read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

Status PreadExact(int fd, void* buffer, std::size_t size, std::uint64_t offset) {
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd, {static_cast<char*>(buffer), size}, offset));
  if (got == size) return {};
  return Fail(Code::kCorrupt, fmt::format("the file ends at byte {}, {} bytes were expected at {}",
                                          offset + got, size, offset));
}

Status Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return FailSystem(errno, fmt::format("rename {} to {}", from, to));
}

Status Remove(const std::string& path) {
  if (::remove(path.c_str()) != 0) return FailPath("remove", path);
  return {};
}

Result<FileStat> StatFile(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return FailPath("look at", path);
  return ToFileStat(found);
}

Result<FileStat> StatFd(int fd) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return FailSystem(errno, "look at an open file");
  return ToFileStat(found);
}

bool Exists(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0;
}

Status LinkOrCopy(const std::string& from, const std::string& to, Durable durable) {
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    const int error = errno;
    const bool refused = error == EXDEV || error == EPERM || error == EMLINK || error == ENOTSUP;
    if (!refused) return FailSystem(error, fmt::format("link {} to {}", from, to));
    RETURN_IF_ERROR(CopyFile(from, to, durable));
  }
  return durable == Durable::kYes ? SyncDir(ParentDir(to)) : Status();
}

}  // namespace stet
