#include "tool/checkpoint/keeping.h"

#include <algorithm>
#include <tuple>

#include <sys/stat.h>

#include "base/clock.h"

namespace stet::tool {
namespace {

constexpr std::uint64_t kEntryNanos = 1'000'000'000;

bool IsSmall(const ToKeep& file, const KeepingLimits& limits) {
  return file.entry->size <= limits.small_bytes;
}

/// Copies one; false when it is left out.
bool CopyOne(const std::string& project, Copies& copies, const ToKeep& file, std::uint64_t room) {
  const Result<Beneath> place = Beneath::Open(project, project + "/" + file.path);
  if (!place) return false;
  const Result<Copies::Copied> copied = copies.Keep(*place, room);
  if (!copied) return false;
  // It may have changed since it was looked at: the manifest tells of what was copied.
  const Result<ManifestEntry> now = EntryNow(project, file.path);
  if (!now || now->inode != copied->stat.inode || now->mtime_ns != copied->stat.mtime_ns ||
      now->size != copied->stat.size)
    return false;
  *file.entry = *now;
  file.entry->kept = {.in = Kept::In::kCopies, .id = copied->name};
  return true;
}

}  // namespace

std::uint64_t NanosOf(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kEntryNanos +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Result<ManifestEntry> EntryNow(const std::string& project, const std::string& path) {
  struct stat facts{};
  const std::string full = project + "/" + path;
  if (::lstat(full.c_str(), &facts) != 0) return FailPath("look at", full);
  ManifestEntry entry;
  entry.mode = facts.st_mode & kEntryModeBits;
  if (S_ISDIR(facts.st_mode)) {
    entry.kind = ManifestKind::kFolder;
    return entry;
  }
  entry.size = static_cast<std::uint64_t>(facts.st_size);
  entry.mtime_ns = NanosOf(facts.st_mtim);
  entry.ctime_ns = NanosOf(facts.st_ctim);
  entry.inode = facts.st_ino;
  if (S_ISREG(facts.st_mode)) return entry;
  if (!S_ISLNK(facts.st_mode))
    return Fail(Code::kInvalid, full + " is neither a file nor a link nor a folder");
  entry.kind = ManifestKind::kLink;
  ASSIGN_OR_RETURN(const Beneath place, Beneath::Open(project, full));
  ASSIGN_OR_RETURN(entry.target, place.ReadLink());
  return entry;
}

Status KeepContents(const std::string& project, Copies& copies, std::vector<ToKeep> files,
                    const KeepingLimits& limits, const CancelToken& cancel) {
  std::ranges::sort(files, [&](const ToKeep& a, const ToKeep& b) {
    return std::tuple(!IsSmall(a, limits), b.entry->mtime_ns) <
           std::tuple(!IsSmall(b, limits), a.entry->mtime_ns);
  });
  const Deadline deadline = Deadline::After(limits.time);
  std::uint64_t room = limits.all_bytes;
  for (const ToKeep& file : files) {
    if (cancel.cancelled()) return Fail(Code::kCancelled, "cancelled");
    if (deadline.Passed()) break;
    if (file.entry->size > room) continue;
    if (CopyOne(project, copies, file, room)) room -= std::min(room, file.entry->size);
  }
  return copies.Sync();
}

}  // namespace stet::tool
