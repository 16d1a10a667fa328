// ProjectScan: what the files of a project look like, for noticing what a command did to them.
//
// A list of the files that git would see (walk.h) with size, time and inode, in the order of the
// walk; contents are not read. It is cut at a number of entries, of bytes or of milliseconds; two
// scans are then compared as far as both go. A plain value. Blocks on the disk: for threads.
//
// Measured on 2 busy cores, -O2, warm cache, 20,000 files in 1,000 folders: 90 ms (nearly all of it
// the kernel's) and 2 MB for a scan, 2 ms for a comparison. A command pays for two scans.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace stet::tool {

struct ScanLimits {
  std::size_t max_entries = 20'000;
  std::size_t max_bytes = std::size_t{8} << 20;
  std::chrono::milliseconds max_time{2000};
};

struct ScannedFile {
  std::string path;  // Relative to the project.
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const ScannedFile&, const ScannedFile&) = default;
};

struct ProjectScan {
  std::vector<ScannedFile> files;
  bool capped = false;  // There is more behind the last file.
  std::int64_t ms = 0;  // What it took.
};

/// kCancelled when the token is. Files and folders that cannot be looked at are left out.
Result<ProjectScan> ScanProject(const std::string& root, const ScanLimits& limits,
                                const CancelToken& cancel);

/// Paths relative to the project, in the order of the walk.
struct ScanChanges {
  std::vector<std::string> written;  // Changed or new.
  std::vector<std::string> deleted;
};

ScanChanges CompareScans(const ProjectScan& before, const ProjectScan& after);

}  // namespace stet::tool
