// The file system: whole-file reads, atomic replacement, folders and trees, with every failure as a
// value.
//
// Guarantees: descriptors are close-on-exec; EINTR is never seen by the caller; errors name the
// path. All functions are safe from any thread and block on the disk (the pool calls them, not the
// loop). Failures carry the code of their errno; those that are particular to a function are said
// at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace stet {

/// What ReadFile reads at most unless told otherwise.
inline constexpr std::size_t kMaxReadFile = std::size_t{64} << 20;
/// ListDir refuses larger folders.
inline constexpr std::size_t kMaxDirEntries = 1'000'000;
/// RemoveTree and DiskUse hold one descriptor per level and refuse deeper trees.
inline constexpr int kMaxTreeDepth = 512;
/// Every temporary file of ours starts so; one found after a crash may be removed.
inline constexpr std::string_view kTempFilePrefix = ".stet-tmp-";

/// Whether a change must have reached the disk before the call returns.
enum class Durable { kNo, kYes };

/// What errno says now, with what was tried and where ("read /a/b").
std::unexpected<Error> FailPath(const char* verb, const std::string& path);

/// open(2) with O_CLOEXEC added to `flags`; `mode` is for O_CREAT and less the umask.
Result<Fd> OpenFile(const std::string& path, int flags, mode_t mode = 0600);

/// The whole file. kInvalid when it is a folder or larger than `max_bytes`. Files of unknown size
/// (/proc) are read to their end under the same cap.
Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes = kMaxReadFile);

/// Readers see the old file or the new one, never a part. A file that is there keeps its permission
/// bits and, as far as we may, its owner; a new one gets `mode` less the umask. A symlink at `path`
/// is itself replaced. On failure the old file is untouched, except when only the folder's flush
/// failed: then the new file is in place but may not survive a power cut.
Status ReplaceFile(const std::string& path, std::string_view bytes, Durable durable,
                   mode_t mode = 0600);

/// All bytes or an error, after which any prefix of them may have been written. For blocking
/// descriptors.
Status WriteAll(int fd, std::string_view bytes);

/// Fills `buffer` from `offset` as far as the file goes; less than its size means the end of the
/// file.
Result<std::size_t> Pread(int fd, std::span<char> buffer, std::uint64_t offset);

/// Exactly `size` bytes; kCorrupt when the file ends before them.
Status PreadExact(int fd, void* buffer, std::size_t size, std::uint64_t offset);

/// Creates the folder and those above it that are missing, each with `mode` less the umask. One
/// that is there is fine; a file in its place is kInvalid.
Status MakeDirs(const std::string& path, mode_t mode = 0700);

/// Flushes a folder, so that the names made, renamed or removed in it survive a power cut.
Status SyncDir(const std::string& path);

Status Rename(const std::string& from, const std::string& to);

/// Removes a file, a symlink or an empty folder; kNotFound when there is none.
Status Remove(const std::string& path);

/// Removes everything below and the folder itself, without following symlinks, also when names are
/// swapped meanwhile. A missing path is success; "" and "/" are kInvalid. Stops at the first
/// failure.
Status RemoveTree(const std::string& path);

enum class EntryKind { kFile, kDir, kSymlink, kOther };

struct DirEntry {
  std::string name;
  EntryKind kind = EntryKind::kOther;

  friend bool operator==(const DirEntry&, const DirEntry&) = default;
};

/// What stands at `path`; a symlink is not followed.
Result<EntryKind> KindOf(const std::string& path);

/// All but "." and "..", sorted by name as bytes. kInvalid beyond kMaxDirEntries.
Result<std::vector<DirEntry>> ListDir(const std::string& path);

struct FileStat {
  std::uint64_t size = 0;
  Millis mtime_ms = 0;
  std::uint64_t mtime_ns = 0;  // The same moment in full, for noticing a change.
  mode_t mode = 0;             // Permission bits only (07777).
  bool is_dir = false;
  bool is_file = false;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint64_t links = 0;
  std::uint64_t block_bytes = 0;  // What it takes on disk.

  friend bool operator==(const FileStat&, const FileStat&) = default;
};

/// Follows symlinks.
Result<FileStat> StatFile(const std::string& path);
Result<FileStat> StatFd(int fd);

/// False as well for a dangling symlink and for what may not be looked at.
bool Exists(const std::string& path);

/// A hard link, or a copy where the file system refuses one; a copy appears complete or not at all.
/// kConflict when `to` exists. kYes flushes the copy and the folder of `to`.
Status LinkOrCopy(const std::string& from, const std::string& to, Durable durable = Durable::kNo);

/// A new empty folder `parent`/`prefix`<random>, mode 0700.
Result<std::string> MakeTempDir(const std::string& parent, std::string_view prefix);

/// Bytes on disk of a file or of a whole tree: symlinks are not followed, a file with several links
/// counts once, and what vanishes during the walk counts nothing.
Result<std::uint64_t> DiskUse(const std::string& path);

/// The folder part of a path: "/a/b" -> "/a", "b" -> ".", "/b" -> "/".
std::string ParentDir(std::string_view path);

}  // namespace stet
