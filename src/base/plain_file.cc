#include "base/plain_file.h"

#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace stet {
namespace {

std::string_view KindName(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return "a directory";
    case S_IFLNK: return "a symlink";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    default: return "a device";
  }
}

std::unexpected<Error> NotPlain(const std::string& path, mode_t mode) {
  return Fail(Code::kInvalid, fmt::format("{} is {}, not a plain file", path, KindName(mode)));
}

}  // namespace

Result<Fd> OpenPlainFile(const std::string& path, int flags, mode_t mode) {
  // O_NONBLOCK keeps open(2) from waiting for the other end of a FIFO; plain files ignore it.
  Result<Fd> fd = OpenFile(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
  struct stat found{};
  if (!fd) {
    // The system's word for a link or a socket ("too many levels") would mislead.
    if (fd.error().code != Code::kConflict && ::lstat(path.c_str(), &found) == 0 &&
        !S_ISREG(found.st_mode))
      return NotPlain(path, found.st_mode);
    return fd;
  }
  if (::fstat(fd->get(), &found) != 0) return FailPath("look at", path);
  if (!S_ISREG(found.st_mode)) return NotPlain(path, found.st_mode);
  return fd;
}

Result<std::string> ReadPlainFile(const std::string& path, std::size_t max_bytes) {
  ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(path, O_RDONLY));
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd.get()));
  if (stat.size > max_bytes)
    return Fail(Code::kInvalid, fmt::format("read {}: larger than {} bytes", path, max_bytes));
  std::string bytes(stat.size, '\0');
  Result<std::size_t> got = Pread(fd.get(), bytes, 0);
  if (!got) return std::unexpected(std::move(got).error().While("reading " + path));
  bytes.resize(*got);
  return bytes;
}

Result<std::uint64_t> PlainFileSize(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return FailPath("look at", path);
  if (!S_ISREG(found.st_mode)) return NotPlain(path, found.st_mode);
  return static_cast<std::uint64_t>(found.st_size);
}

}  // namespace stet
