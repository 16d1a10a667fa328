#include "tool/project_scan.h"

#include <algorithm>
#include <compare>
#include <string_view>

#include "base/clock.h"
#include "base/fs.h"
#include "tool/walk.h"

namespace stet::tool {

namespace {

/// The order of a walk: that of the names in each folder. A "/" ends a name, and so comes before
/// all that could continue it.
bool WalkedBefore(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

/// Nothing is known of what lies behind the end of a scan that was cut.
bool Knows(const ProjectScan& scan, std::string_view path) {
  if (!scan.capped) return true;
  return !scan.files.empty() && !WalkedBefore(scan.files.back().path, path);
}

}  // namespace

Result<ProjectScan> ScanProject(const std::string& root, const ScanLimits& limits,
                                const CancelToken& cancel) {
  const auto begin = SystemClock().Steady();
  const Deadline deadline = Deadline::After(limits.max_time);
  ProjectScan scan;
  std::size_t bytes = 0;
  const UseFile use = [&](const std::string& path, bool) {
    if (scan.files.size() >= limits.max_entries || bytes >= limits.max_bytes || deadline.Passed()) {
      scan.capped = true;
      return false;
    }
    const auto stat = StatFile(root + "/" + path);
    if (!stat) return true;  // It vanished meanwhile.
    scan.files.push_back(
        {.path = path, .size = stat->size, .mtime_ns = stat->mtime_ns, .inode = stat->inode});
    bytes += sizeof(ScannedFile) + path.size();
    return true;
  };
  RETURN_IF_ERROR(WalkFiles({.folder = root, .project = root}, cancel, use));
  scan.ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - begin).count();
  return scan;
}

ScanChanges CompareScans(const ProjectScan& before, const ProjectScan& after) {
  ScanChanges changes;
  auto old = before.files.begin();
  auto now = after.files.begin();
  while (old != before.files.end() || now != after.files.end()) {
    if (now == after.files.end() ||
        (old != before.files.end() && WalkedBefore(old->path, now->path))) {
      if (Knows(after, old->path)) changes.deleted.push_back(old->path);
      ++old;
    } else if (old == before.files.end() || WalkedBefore(now->path, old->path)) {
      if (Knows(before, now->path)) changes.written.push_back(now->path);
      ++now;
    } else {
      if (*old != *now) changes.written.push_back(now->path);
      ++old;
      ++now;
    }
  }
  return changes;
}

}  // namespace stet::tool
