#include "log/unborn.h"

#include <algorithm>

#include "base/fs.h"
#include "base/lock.h"
#include "base/plain_file.h"

namespace stet::log {
namespace {

/// Whether there is no file, or one without a byte.
bool HoldsNothing(const std::string& path) {
  const Result<std::uint64_t> size = PlainFileSize(path);
  return size ? *size == 0 : size.error().code == Code::kNotFound;
}

}  // namespace

bool IsUnborn(const Paths& paths) {
  if (!HoldsNothing(paths.events()) || KindOf(paths.dir) != EntryKind::kDir) return false;
  const Result<std::vector<DirEntry>> entries = ListDir(paths.dir);
  return entries && std::ranges::all_of(*entries, [&](const DirEntry& entry) {
           const std::string path = paths.dir + "/" + entry.name;
           return path == paths.events() || path == paths.lock() || path == paths.diagnostics() ||
                  path == paths.diagnostics() + ".1";
         });
}

Status RemoveUnborn(const Paths& paths) {
  if (!IsUnborn(paths)) return {};
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(paths.lock()));
  return IsUnborn(paths) ? RemoveTree(paths.dir) : Status();
}

}  // namespace stet::log
