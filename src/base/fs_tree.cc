// The part of fs.h that deals with folders and trees.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/random.h"

namespace stet {

namespace {

constexpr int kMaxFolderTries = 16;
constexpr std::size_t kFolderNameLength = 12;
constexpr int kOpenDir = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

EntryKind KindOf(const struct stat& found) {
  if (S_ISREG(found.st_mode)) return EntryKind::kFile;
  if (S_ISDIR(found.st_mode)) return EntryKind::kDir;
  return S_ISLNK(found.st_mode) ? EntryKind::kSymlink : EntryKind::kOther;
}

EntryKind KindOf(int dir, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG: return EntryKind::kFile;
    case DT_DIR: return EntryKind::kDir;
    case DT_LNK: return EntryKind::kSymlink;
    case DT_UNKNOWN: break;  // Some file systems do not say.
    default: return EntryKind::kOther;
  }
  struct stat found{};
  if (::fstatat(dir, entry.d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return EntryKind::kOther;
  return KindOf(found);
}

/// The entries of the folder open as `fd`, in no order.
Result<std::vector<DirEntry>> ReadEntries(int fd, const std::string& path) {
  // A descriptor of its own, because the stream closes the one it is given.
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return FailPath("open", path);
  const std::unique_ptr<DIR, CloseDir> dir(::fdopendir(copy));
  if (!dir) {
    ::close(copy);
    return FailPath("list", path);
  }
  std::vector<DirEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == kMaxDirEntries)
      return Fail(Code::kInvalid,
                  fmt::format("list {}: more than {} entries", path, kMaxDirEntries));
    entries.push_back({std::string(name), KindOf(fd, *entry)});
  }
  if (errno != 0) return FailPath("list", path);
  return entries;
}

std::unexpected<Error> TooDeep(const std::string& path) {
  return Fail(Code::kUnsupported, fmt::format("{}: more than {} levels", path, kMaxTreeDepth));
}

/// Removes `name` of the folder open as `parent`. `path` is for messages only.
Status RemoveAt(int parent, const char* name, const std::string& path, int depth) {
  // unlink first: it fails harmlessly on a folder and asks for no kind that could change meanwhile.
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return FailPath("remove", path);
  const int unlink_error = errno;
  if (depth == kMaxTreeDepth) return TooDeep(path);

  Fd dir(::openat(parent, name, kOpenDir));
  if (!dir) return FailSystem(errno == ENOTDIR ? unlink_error : errno, "remove " + path);
  ASSIGN_OR_RETURN(const auto entries, ReadEntries(dir.get(), path));
  for (const DirEntry& entry : entries)
    RETURN_IF_ERROR(RemoveAt(dir.get(), entry.name.c_str(), path + "/" + entry.name, depth + 1));
  dir.reset();
  if (::unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
    return FailPath("remove", path);
  return {};
}

struct Usage {
  std::uint64_t bytes = 0;
  std::set<std::pair<dev_t, ino_t>> linked;  // Files with several names that were counted.
};

Status CountAt(int parent, const char* name, const std::string& path, int depth, Usage& usage) {
  struct stat found{};
  if (::fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT && depth > 0 ? Status() : FailPath("look at", path);
  const bool is_dir = S_ISDIR(found.st_mode);
  if (is_dir || found.st_nlink == 1 || usage.linked.emplace(found.st_dev, found.st_ino).second)
    usage.bytes += static_cast<std::uint64_t>(found.st_blocks) * 512;
  if (!is_dir) return {};
  if (depth == kMaxTreeDepth) return TooDeep(path);

  const Fd dir(::openat(parent, name, kOpenDir));
  if (!dir && errno == ENOENT) return {};
  if (!dir) return FailPath("open", path);
  ASSIGN_OR_RETURN(const auto entries, ReadEntries(dir.get(), path));
  for (const DirEntry& entry : entries)
    RETURN_IF_ERROR(
        CountAt(dir.get(), entry.name.c_str(), path + "/" + entry.name, depth + 1, usage));
  return {};
}

/// The path without the slashes at its end, which would make the system follow a symlink.
std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string ParentDir(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  path = path.substr(0, slash);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return path.empty() ? "/" : std::string(path);
}

Status MakeDirs(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  if (errno == EEXIST) {
    struct stat there{};
    if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) return {};
    return Fail(Code::kInvalid, fmt::format("make folder {}: a file is in its place", path));
  }
  const std::string parent = ParentDir(path);
  if (errno != ENOENT || path.empty() || parent == path) return FailPath("make folder", path);
  RETURN_IF_ERROR(MakeDirs(parent, mode));
  // Another process may have made it meanwhile.
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return FailPath("make folder", path);
}

Status SyncDir(const std::string& path) {
  ASSIGN_OR_RETURN(const Fd dir, OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(dir.get()) != 0) return FailPath("flush folder", path);
  return {};
}

Status RemoveTree(const std::string& path) {
  const std::string bare = WithoutSlashes(path);
  if (bare.empty() || bare == "/") return Fail(Code::kInvalid, "remove: not the whole machine");
  return RemoveAt(AT_FDCWD, bare.c_str(), bare, 0);
}

Result<EntryKind> KindOf(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return FailPath("look at", path);
  return KindOf(found);
}

Result<std::vector<DirEntry>> ListDir(const std::string& path) {
  ASSIGN_OR_RETURN(const Fd dir, OpenFile(path, O_RDONLY | O_DIRECTORY));
  ASSIGN_OR_RETURN(auto entries, ReadEntries(dir.get(), path));
  std::ranges::sort(entries, {}, &DirEntry::name);
  return entries;
}

Result<std::string> MakeTempDir(const std::string& parent, std::string_view prefix) {
  for (int tries = 0; tries < kMaxFolderTries; ++tries) {
    std::string path =
        fmt::format("{}/{}{}", parent, prefix, RandomName(ProcessRandom(), kFolderNameLength));
    if (::mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST) return FailPath("make folder", path);
  }
  return Fail(Code::kConflict, fmt::format("no free temporary name in {}", parent));
}

Result<std::uint64_t> DiskUse(const std::string& path) {
  const std::string bare = WithoutSlashes(path);
  Usage usage;
  RETURN_IF_ERROR(CountAt(AT_FDCWD, bare.c_str(), bare, 0, usage));
  return usage.bytes;
}

}  // namespace stet
