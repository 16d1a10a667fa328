#include "host/garbage.h"

#include <algorithm>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "log/scan.h"

namespace stet::host {
namespace {

using protocol::GarbageItem;

/// Younger temporary files may belong to a process that is still at work.
constexpr Millis kTemporaryAge = Millis{60} * 60 * 1000;

bool IsOldTemporary(const std::string& path, std::string_view name) {
  if (!name.starts_with(kTempFilePrefix)) return false;
  const Result<FileStat> stat = StatFile(path);
  return stat && SystemClock().Now() - stat->mtime_ms > kTemporaryAge;
}

/// Every blob that a line of the log may mean, damaged lines included.
Result<std::set<std::string>> NamedBlobs(const log::Paths& paths) {
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(paths.events(), O_RDONLY));
  std::set<std::string> names;
  log::LineScanner scanner(fd.get(), 0);
  log::ScannedLine line;
  while (true) {
    ASSIGN_OR_RETURN(const bool any, scanner.Next(&line));
    if (!any) return names;
    names.merge([&] {
      const std::vector<std::string> found = log::Blobs::NamesIn(line.text);
      return std::set<std::string>(found.begin(), found.end());
    }());
  }
}

void AddTemporaries(const std::string& dir, const std::string& session_id,
                    std::vector<GarbageItem>& items) {
  const Result<std::vector<DirEntry>> entries = ListDir(dir);
  if (!entries) return;
  for (const DirEntry& entry : *entries) {
    const std::string path = dir + "/" + entry.name;
    if (!IsOldTemporary(path, entry.name)) continue;
    items.push_back({.kind = "temporary",
                     .session_id = session_id,
                     .path = path,
                     .bytes = DiskUse(path).value_or(0)});
  }
}

/// A session that cannot be read keeps all its blobs.
void AddBlobs(const log::Paths& paths, const std::string& session_id,
              std::vector<GarbageItem>& items) {
  const Result<std::vector<DirEntry>> entries = ListDir(paths.blobs());
  if (!entries || entries->empty()) return;
  const Result<std::set<std::string>> named = NamedBlobs(paths);
  if (!named) return;
  for (const DirEntry& entry : *entries) {
    if (!log::Blobs::IsName(entry.name) || named->contains(entry.name)) continue;
    const std::string path = paths.blobs() + "/" + entry.name;
    items.push_back({.kind = "blob",
                     .session_id = session_id,
                     .path = path,
                     .bytes = DiskUse(path).value_or(0)});
  }
}

/// The session's own folder and those of its child agents.
std::vector<log::Paths> FoldersOf(const SessionStore& store, const std::string& session_id) {
  std::vector<log::Paths> folders{{store.NewDir(session_id)}};
  const std::string agents = folders.front().agents();
  const Result<std::vector<DirEntry>> children = ListDir(agents);
  if (!children) return folders;
  for (const DirEntry& child : *children) {
    if (child.kind == EntryKind::kDir) folders.push_back({agents + "/" + child.name});
  }
  return folders;
}

std::vector<GarbageItem> GarbageOf(const SessionStore& store, const std::string& session_id) {
  std::vector<GarbageItem> items;
  for (const log::Paths& paths : FoldersOf(store, session_id)) {
    // A writer makes a blob before the event that names it: what it is about to name must not go.
    if (FileLock::Holder(paths.lock())) continue;
    AddBlobs(paths, session_id, items);
    AddTemporaries(paths.dir, session_id, items);
    AddTemporaries(paths.blobs(), session_id, items);
  }
  return items;
}

/// Deletes one item if it is still garbage, holding its session's lock. Gives the bytes freed, 0
/// when it was left.
Result<std::uint64_t> CollectOne(const SessionStore& store, const GarbageItem& item) {
  if (item.kind != "blob") {
    RETURN_IF_ERROR(RemoveTree(item.path));
    return item.bytes;
  }
  for (const log::Paths& paths : FoldersOf(store, item.session_id)) {
    if (!item.path.starts_with(paths.blobs() + "/")) continue;
    const Result<FileLock> lock = FileLock::Acquire(paths.lock());
    if (!lock) return 0;
    std::vector<GarbageItem> still;
    AddBlobs(paths, item.session_id, still);
    if (std::ranges::find(still, item.path, &GarbageItem::path) == still.end()) return 0;
    RETURN_IF_ERROR(Remove(item.path));
    return item.bytes;
  }
  return 0;
}

}  // namespace

Result<std::vector<GarbageItem>> FindGarbage(const SessionStore& store, bool with_trash) {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, store.Ids());
  std::vector<GarbageItem> items;
  for (const std::string& id : ids) {
    std::vector<GarbageItem> found = GarbageOf(store, id);
    items.insert(items.end(), found.begin(), found.end());
  }
  AddTemporaries(store.roots().sessions(), "", items);
  if (!with_trash) return items;
  ASSIGN_OR_RETURN(const std::vector<protocol::TrashRow> rows, store.Trash());
  for (const protocol::TrashRow& row : rows) {
    items.push_back(
        {.kind = "trash",
         .session_id = row.session_id,
         .path = fmt::format("{}/{}.{}", store.roots().trash(), row.session_id, row.removed_at),
         .bytes = row.bytes});
  }
  return items;
}

Result<std::uint64_t> Collect(const SessionStore& store, const std::vector<GarbageItem>& items) {
  std::uint64_t freed = 0;
  for (const GarbageItem& item : items) {
    ASSIGN_OR_RETURN(const std::uint64_t bytes, CollectOne(store, item));
    freed += bytes;
  }
  return freed;
}

}  // namespace stet::host
