// Keeping: sees to it that the contents of files can be had again, within what a checkpoint may
// cost: a repository that has a file as it is keeps it for nothing, the rest is copied.
//
// Blocks on the disk: for threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "base/cancel.h"
#include "base/result.h"
#include "tool/checkpoint/copies.h"
#include "tool/checkpoint/manifest.h"

namespace stet::tool {

/// Of one checkpoint, for what is kept by copy.
struct KeepingLimits {
  std::uint64_t small_bytes = std::uint64_t{1} << 20;  // Files up to here go first.
  std::uint64_t all_bytes = std::uint64_t{256} << 20;
  std::chrono::milliseconds time{1500};
};

struct ToKeep {
  std::string path;  // Relative to the project.
  ManifestEntry* entry = nullptr;
};

/// Fills in where the content of each is, and how the file looked then. Those that cannot be kept,
/// because of the limits, because they cannot be read or because the store has no room, are kept
/// nowhere: the newest and the small ones are kept first. kCancelled when the token is; other
/// failures are the store's when it is flushed.
Status KeepContents(const std::string& project, Copies& copies, std::vector<ToKeep> files,
                    const KeepingLimits& limits, const CancelToken& cancel);

/// A time of stat(2) as manifests have it.
std::uint64_t NanosOf(const timespec& time);

/// As lstat(2) and the link itself say of what stands at a path of the project; `kept` is empty.
/// kNotFound when there is nothing, kInvalid for what is neither file, link nor folder.
Result<ManifestEntry> EntryNow(const std::string& project, const std::string& path);

}  // namespace stet::tool
