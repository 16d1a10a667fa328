#include "tool/checkpoint/copies.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"

namespace stet::tool {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr std::size_t kNameLength = 16;
constexpr std::size_t kHexSha256 = 64;
/// More than these are flushed with everything else on their disk, which is cheaper then.
constexpr std::size_t kFlushedOneByOne = 24;

/// Changed in any way that stat(2) tells of.
bool IsAsBefore(const FileStat& before, const FileStat& now) { return before == now; }

/// A file of ours that is removed again unless it got a name that stays.
class Temporary {
 public:
  static Result<Temporary> Make(const std::string& folder) {
    Temporary made;
    made.path_ =
        fmt::format("{}/{}{}", folder, kTempFilePrefix, RandomName(ProcessRandom(), kNameLength));
    ASSIGN_OR_RETURN(made.fd_, OpenFile(made.path_, O_RDWR | O_CREAT | O_EXCL, 0600));
    return made;
  }
  Temporary(Temporary&& other) noexcept
      : path_(std::exchange(other.path_, "")), fd_(std::move(other.fd_)) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    // Ignoring the error on purpose: its name says what it is.
    if (!path_.empty()) (void)::unlink(path_.c_str());
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Temporary() = default;

  std::string path_;
  Fd fd_;
};

/// The hash of all of `from`, which is written to `to` unless that is negative.
Result<std::string> HashAndWrite(int from, int to) {
  Sha256 hash;
  std::string piece(kPiece, '\0');
  for (std::uint64_t at = 0;;) {
    ASSIGN_OR_RETURN(const std::size_t got, Pread(from, piece, at));
    const std::string_view bytes = std::string_view(piece).substr(0, got);
    hash.Update(bytes);
    if (to >= 0) RETURN_IF_ERROR(WriteAll(to, bytes));
    at += got;
    if (got < piece.size()) return hash.FinishHex();
  }
}

}  // namespace

bool Copies::IsName(std::string_view text) {
  return text.size() == kHexSha256 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status Copies::MakeFolders() {
  if (made_) return {};
  RETURN_IF_ERROR(MakeDirs(store_));
  RETURN_IF_ERROR(MakeDirs(session_));
  made_ = true;
  return {};
}

Result<Copies::Copied> Copies::Keep(const Beneath& file, std::uint64_t max_bytes) {
  RETURN_IF_ERROR(MakeFolders());
  Result<Copied> copied = Copy(file, max_bytes);
  // A program that writes just now may be done the second time.
  if (!copied && copied.error().code == Code::kConflict) return Copy(file, max_bytes);
  return copied;
}

Result<Copies::Copied> Copies::Copy(const Beneath& file, std::uint64_t max_bytes) {
  ASSIGN_OR_RETURN(const Fd from, file.OpenToRead());
  Copied copied;
  ASSIGN_OR_RETURN(copied.stat, StatFd(from.get()));
  if (copied.stat.size > max_bytes)
    return Fail(Code::kInvalid, fmt::format("{} has {} bytes", file.path(), copied.stat.size));
  const auto check = [&]() -> Status {
    ASSIGN_OR_RETURN(const FileStat now, StatFd(from.get()));
    if (IsAsBefore(copied.stat, now)) return {};
    return Fail(Code::kConflict, file.path() + " is written while it is copied");
  };
  // Most of what is new in one session is known from another: read it before it is written.
  if (copied.stat.size <= kPiece) {
    ASSIGN_OR_RETURN(copied.name, HashAndWrite(from.get(), -1));
    RETURN_IF_ERROR(check());
    if (Exists(store_ + "/" + copied.name) && Link(copied.name)) return copied;
  }
  ASSIGN_OR_RETURN(const Temporary to, Temporary::Make(store_));
  // Where the file system can, the copy shares the file's room.
  const bool shared = ::ioctl(to.fd(), FICLONE, from.get()) == 0;
  ASSIGN_OR_RETURN(copied.name,
                   shared ? HashAndWrite(to.fd(), -1) : HashAndWrite(from.get(), to.fd()));
  RETURN_IF_ERROR(check());
  copied.bytes = shared ? 0 : copied.stat.size;
  RETURN_IF_ERROR(Store(to.path(), copied.name));
  return copied;
}

Result<std::string> Copies::Keep(std::string_view bytes) {
  RETURN_IF_ERROR(MakeFolders());
  std::string name = Sha256Hex(bytes);
  if (Exists(store_ + "/" + name) && Link(name)) return name;
  ASSIGN_OR_RETURN(const Temporary to, Temporary::Make(store_));
  RETURN_IF_ERROR(WriteAll(to.fd(), bytes));
  RETURN_IF_ERROR(Store(to.path(), name));
  return name;
}

Status Copies::Store(const std::string& temporary, const std::string& name) {
  if (::link(temporary.c_str(), (store_ + "/" + name).c_str()) != 0 && errno != EEXIST)
    return FailPath("keep a copy in", store_);
  unsynced_.push_back(name);
  return Link(name);
}

/// Fails with kNotFound when the copy was removed meanwhile.
Status Copies::Link(const std::string& name) {
  if (::link((store_ + "/" + name).c_str(), (session_ + "/" + name).c_str()) == 0) {
    // One that another session kept may not have reached the disk yet.
    if (unsynced_.empty() || unsynced_.back() != name) unsynced_.push_back(name);
    return {};
  }
  return errno == EEXIST ? Status() : FailPath("keep a copy in", session_);
}

Status Copies::KeepAsGit(const std::string& id, std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::string name, Keep(bytes));
  const std::string path = session_ + "/g" + id;
  if (::link((session_ + "/" + name).c_str(), path.c_str()) == 0 || errno == EEXIST) return {};
  return FailPath("keep a copy as", path);
}

Result<std::string> Copies::ReadGit(const std::string& id) const {
  const std::string path = session_ + "/g" + id;
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path));
  return ReadFile(path, stat.size);
}

bool Copies::Adopt(const std::string& name) { return IsName(name) && MakeFolders() && Link(name); }

Result<std::string> Copies::Read(std::string_view name) const {
  if (!IsName(name)) return Fail(Code::kNotFound, "that is no copy's name");
  const std::string path = fmt::format("{}/{}", session_, name);
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path));
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, stat.size));
  if (Sha256Hex(bytes) != name) return Fail(Code::kCorrupt, path + " is not what its name says");
  return bytes;
}

Status Copies::Sync() {
  if (unsynced_.empty()) return {};
  if (unsynced_.size() > kFlushedOneByOne) {
    ASSIGN_OR_RETURN(const Fd folder, OpenFile(store_, O_RDONLY | O_DIRECTORY));
    if (::syncfs(folder.get()) != 0) return FailPath("flush", store_);
  } else {
    for (const std::string& name : unsynced_) {
      ASSIGN_OR_RETURN(const Fd file, OpenFile(session_ + "/" + name, O_RDONLY));
      if (::fdatasync(file.get()) != 0) return FailPath("flush", session_ + "/" + name);
    }
    RETURN_IF_ERROR(SyncDir(store_));
    RETURN_IF_ERROR(SyncDir(session_));
  }
  unsynced_.clear();
  return {};
}

}  // namespace stet::tool
