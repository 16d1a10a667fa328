#include "base/beneath.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/random.h"

namespace stet {
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kFolderMode = 0777;
constexpr int kNameTries = 16;
constexpr std::size_t kNameLength = 16;

std::atomic<bool> walk_only = false;

std::unexpected<Error> LeadsElsewhere(const std::string& path) {
  return Fail(
      Code::kConflict,
      fmt::format("{} leads elsewhere now than when it was looked at: a link is in its way", path));
}

std::unexpected<Error> FailedAt(const char* verb, const std::string& path) {
  // ENOTDIR is what a link gives where a folder is meant.
  if (errno == ELOOP || errno == EXDEV || errno == ENOTDIR) return LeadsElsewhere(path);
  return FailPath(verb, path);
}

/// The parts of a relative path; nothing when one of them is none.
std::optional<std::vector<std::string>> PartsOf(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      return std::nullopt;
    parts.emplace_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

/// One call for the whole path: nothing where the kernel, or a filter over us, has no such call.
std::optional<int> OpenAtOnce(int folder, const std::string& below) {
  if (walk_only) return std::nullopt;
  struct open_how how = {};
  how.flags = kFolder;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (;;) {
    const auto fd =
        static_cast<int>(::syscall(SYS_openat2, folder, below.c_str(), &how, sizeof how));
    if (fd >= 0) return fd;
    if (errno == ENOSYS || errno == EPERM) return std::nullopt;
    // EAGAIN: a rename anywhere got in its way.
    if (errno != EINTR && errno != EAGAIN) return -1;
  }
}

/// One part after the other; with `make`, those that are missing are made.
Result<Fd> Descend(int from, const std::vector<std::string>& parts, bool make,
                   const std::string& path) {
  Fd at(::fcntl(from, F_DUPFD_CLOEXEC, 0));
  if (!at) return FailPath("open", path);
  for (const std::string& part : parts) {
    Fd next(::openat(at.get(), part.c_str(), kFolder));
    if (!next && errno == ENOENT && make) {
      if (::mkdirat(at.get(), part.c_str(), kFolderMode) != 0 && errno != EEXIST)
        return FailPath("make a folder for", path);
      next.reset(::openat(at.get(), part.c_str(), kFolder));
    }
    if (!next) return FailedAt("open", path);
    at = std::move(next);
  }
  return at;
}

Result<Fd> OpenFolder(int from, const std::vector<std::string>& parts, bool make,
                      const std::string& path) {
  std::string below;
  for (const std::string& part : parts) (below += below.empty() ? "" : "/") += part;
  const std::optional<int> opened = OpenAtOnce(from, below.empty() ? "." : below);
  if (opened && *opened >= 0) return Fd(*opened);
  if (opened && !(make && errno == ENOENT)) return FailedAt("open", path);
  return Descend(from, parts, make, path);
}

/// `path` without `folder` and the slash behind it; nothing when it is not below it.
std::optional<std::string_view> Below(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (!path.starts_with(folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  if (path.empty()) return path;
  if (path.front() != '/') return std::nullopt;
  return path.substr(1);
}

Result<std::string> RealPathOf(const std::string& path) {
  std::array<char, PATH_MAX> real;
  if (::realpath(path.c_str(), real.data()) == nullptr) return FailPath("look at", path);
  return std::string(real.data());
}

}  // namespace

Result<Beneath> OpenWithin(const std::string& root, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string real_root, RealPathOf(root));
  ASSIGN_OR_RETURN(const std::string real, RealPathOf(path));
  if (!Below(real, real_root))
    return Fail(Code::kDenied, fmt::format("{} is a link that leads out of {}", path, real_root));
  return Beneath::Open(real_root, real);
}

Result<std::string> ReadWithin(const std::string& root, const std::string& path,
                               std::size_t max_bytes) {
  ASSIGN_OR_RETURN(const Beneath file, OpenWithin(root, path));
  ASSIGN_OR_RETURN(Beneath::Content content, file.Read(max_bytes));
  return std::move(content.bytes);
}

void WalkBeneathForTests(bool walk) { walk_only = walk; }

Result<Beneath> Beneath::Open(const std::string& root, const std::string& path, Parents parents) {
  const auto above = Below(root, "/");
  const auto below = Below(path, root);
  const auto root_parts = above ? PartsOf(*above) : std::nullopt;
  auto parts = below ? PartsOf(*below) : std::nullopt;
  if (!root_parts || !parts || parts->empty())
    return Fail(Code::kInvalid, fmt::format("{} is no file in {}", path, root));
  std::string name = std::move(parts->back());
  parts->pop_back();
  ASSIGN_OR_RETURN(const Fd top, OpenFile("/", kFolder));
  // A root is there, or it is no root.
  ASSIGN_OR_RETURN(const Fd base, OpenFolder(top.get(), *root_parts, false, path));
  ASSIGN_OR_RETURN(Fd folder, OpenFolder(base.get(), *parts, parents == Parents::kMake, path));
  return Beneath(std::move(folder), path, std::move(name));
}

Result<FileStat> Beneath::Stat() const {
  // A handle of the name itself: fstat(2) tells of it what lstat(2) would.
  const Fd fd(::openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return FailPath("look at", path_);
  return StatFd(fd.get());
}

/// Nothing that stands there is waited for, and no device is opened.
Result<Fd> Beneath::OpenPlain(int flags) const {
  const auto check = [&](const Result<FileStat>& stat) -> Status {
    if (!stat) return std::unexpected(stat.error());
    if (stat->is_file) return {};
    return Fail(Code::kInvalid, fmt::format("{} is {}.", path_,
                                            stat->is_dir ? "a folder"
                                                         : "not a regular file (a link, pipe, "
                                                           "socket or device)"));
  };
  RETURN_IF_ERROR(check(Stat()));
  Fd fd(::openat(folder_.get(), name_.c_str(),
                 flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) return FailedAt("open", path_);
  RETURN_IF_ERROR(check(StatFd(fd.get())));
  return fd;
}

Result<Fd> Beneath::OpenToRead() const { return OpenPlain(O_RDONLY); }

Result<Beneath::Content> Beneath::Read(std::size_t max_bytes) const {
  ASSIGN_OR_RETURN(const Fd fd, OpenToRead());
  Content content;
  ASSIGN_OR_RETURN(content.stat, StatFd(fd.get()));
  if (content.stat.size > max_bytes)
    return Fail(Code::kInvalid, fmt::format("{} has {} bytes; {} is the most that is read.", path_,
                                            content.stat.size, max_bytes));
  content.bytes.resize(content.stat.size);
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd.get(), content.bytes, 0));
  content.bytes.resize(got);
  return content;
}

Status Beneath::Write(std::string_view bytes, mode_t mode) const {
  struct stat old = {};
  if (::fstatat(folder_.get(), name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) return FailPath("look at", path_);
    return Replace(bytes, mode, nullptr);
  }
  if (!S_ISREG(old.st_mode))
    return Fail(Code::kInvalid, fmt::format("{} is not a regular file", path_));
  return old.st_nlink > 1 ? WriteInPlace(bytes, old) : Replace(bytes, mode, &old);
}

Status Beneath::Replace(std::string_view bytes, mode_t mode, const struct stat* old) const {
  std::string name;
  Fd fd;
  for (int tries = 0; !fd && tries < kNameTries; ++tries) {
    name = fmt::format("{}{}", kTempFilePrefix, RandomName(ProcessRandom(), kNameLength));
    // No other user may read what the old file hid from them, not even for a moment.
    fd.reset(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                      old != nullptr ? 0600 : mode));
    if (!fd && errno != EEXIST) return FailPath("write", path_);
  }
  if (!fd) return Fail(Code::kConflict, fmt::format("no free temporary name beside {}", path_));
  const auto finish = [&]() -> Status {
    RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
    if (old != nullptr) {
      mode_t kept = old->st_mode & 07777;
      // Only root may give a file away. One that stays ours must not be setuid or setgid, which
      // would run it as us.
      if (::fchown(fd.get(), old->st_uid, old->st_gid) != 0) kept &= 0777;
      if (::fchmod(fd.get(), kept) != 0) return FailPath("set the mode of", path_);
    }
    if (::fsync(fd.get()) != 0) return FailPath("flush", path_);
    if (::renameat(folder_.get(), name.c_str(), folder_.get(), name_.c_str()) != 0)
      return FailPath("write", path_);
    return {};
  };
  const Status finished = finish();
  if (finished) return FlushFolder();
  ::unlinkat(folder_.get(), name.c_str(), 0);  // Ignoring errors: the name says what it is.
  return finished;
}

Status Beneath::WriteInPlace(std::string_view bytes, const struct stat& old) const {
  ASSIGN_OR_RETURN(const Fd fd, OpenPlain(O_WRONLY));
  ASSIGN_OR_RETURN(const FileStat now, StatFd(fd.get()));
  if (now.inode != old.st_ino || now.device != old.st_dev) return LeadsElsewhere(path_);
  RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes.size())) != 0) return FailPath("write", path_);
  if (::fsync(fd.get()) != 0) return FailPath("flush", path_);
  return {};
}

Status Beneath::Remove() const {
  if (::unlinkat(folder_.get(), name_.c_str(), 0) != 0) return FailPath("delete", path_);
  return FlushFolder();
}

Result<std::string> Beneath::ReadLink() const {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(folder_.get(), name_.c_str(), target.data(), target.size());
  if (size < 0) return FailPath("read the link", path_);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Status Beneath::MakeLink(const std::string& target) const {
  if (::symlinkat(target.c_str(), folder_.get(), name_.c_str()) != 0)
    return FailPath("make the link", path_);
  return FlushFolder();
}

Status Beneath::MakeFolder() const {
  if (::mkdirat(folder_.get(), name_.c_str(), kFolderMode) == 0) return FlushFolder();
  if (errno != EEXIST) return FailPath("make the folder", path_);
  ASSIGN_OR_RETURN(const FileStat stat, Stat());
  return stat.is_dir ? Status() : Fail(Code::kConflict, path_ + " is no folder");
}

Status Beneath::RemoveFolder() const {
  if (::unlinkat(folder_.get(), name_.c_str(), AT_REMOVEDIR) == 0) return FlushFolder();
  if (errno == ENOTEMPTY || errno == EEXIST) return Fail(Code::kConflict, path_ + " is not empty");
  return FailPath("delete the folder", path_);
}

/// By a handle of what stands there, which is no link: fchmodat(2) would follow one.
Status Beneath::SetMode(mode_t mode) const {
  const Fd fd(::openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return FailPath("look at", path_);
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd.get()));
  if (!stat.is_file && !stat.is_dir) return Fail(Code::kInvalid, path_ + " has no mode of its own");
  const std::string handle = fmt::format("/proc/self/fd/{}", fd.get());
  if (::chmod(handle.c_str(), mode) != 0) return FailPath("set the mode of", path_);
  return {};
}

Status Beneath::FlushFolder() const {
  const Fd readable(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable || ::fsync(readable.get()) != 0) return FailPath("flush the folder of", path_);
  return {};
}

}  // namespace stet
