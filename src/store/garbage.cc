#include "store/garbage.h"

#include <algorithm>
#include <set>

#include <fcntl.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/plain_file.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "log/scan.h"
#include "log/unborn.h"
#include "store/staging.h"
#include "store/tree_lock.h"

namespace stet::store {
namespace {

using protocol::GarbageItem;

/// The kind of a folder in which no session came to be.
constexpr std::string_view kUnborn = "unborn";

/// The kind of what is kept of a file for undo.
constexpr std::string_view kCopy = "copy";

/// Younger temporary files may belong to a process that is still at work.
constexpr Millis kTemporaryAge = Millis{60} * 60 * 1000;

/// What a process left that is gone, or is so old that it must be.
bool IsLeftTemporary(const std::string& path) {
  if (Staging::IsLeft(path)) return true;
  const Result<FileStat> stat = StatFile(path);
  return stat && SystemClock().Now() - stat->mtime_ms > kTemporaryAge;
}

/// Every blob that a line of the log may mean, damaged lines included.
Result<std::set<std::string>> NamedBlobs(const log::Paths& paths) {
  ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(paths.events(), O_RDONLY));
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
    if (!entry.name.starts_with(kTempFilePrefix) || !IsLeftTemporary(path)) continue;
    items.push_back({.kind = "temporary",
                     .session_id = session_id,
                     .path = path,
                     .bytes = DiskUse(path).value_or(0)});
  }
}

/// A session that cannot be read keeps all its blobs.
void AddBlobs(const log::Paths& paths, const std::string& session_id,
              std::vector<GarbageItem>& items) {
  // A link would lead to blobs that another session's log names.
  if (KindOf(paths.blobs()) != EntryKind::kDir) return;
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

/// Younger copies may be those of a checkpoint that is being taken.
bool IsUnusedCopy(const std::string& path) {
  const Result<FileStat> stat = StatFile(path);
  return stat && stat->is_file && stat->links == 1 &&
         SystemClock().Now() - stat->mtime_ms > kTemporaryAge;
}

/// What was kept of files and no session has a name for any more.
void AddUnusedCopies(const std::string& folder, std::vector<GarbageItem>& items) {
  if (KindOf(folder) != EntryKind::kDir) return;
  const Result<std::vector<DirEntry>> entries = ListDir(folder);
  if (!entries) return;
  for (const DirEntry& entry : *entries) {
    const std::string path = folder + "/" + entry.name;
    if (!log::Blobs::IsName(entry.name) || !IsUnusedCopy(path)) continue;
    items.push_back({.kind = std::string(kCopy), .path = path, .bytes = DiskUse(path).value_or(0)});
  }
}

/// A session of the tree that a process writes, if there is one.
std::optional<GarbageItem> HeldIn(const std::vector<std::string>& dirs) {
  for (const std::string& dir : dirs) {
    const std::optional<LockHolder> holder = FileLock::Holder(log::Paths{dir}.lock());
    if (!holder) continue;
    return GarbageItem{.kind = "held",
                       .session_id = std::string(log::Paths{dir}.session_id()),
                       .path = dir,
                       .held_by = holder->pid};
  }
  return std::nullopt;
}

/// Of a root and its children.
std::vector<GarbageItem> GarbageOf(const SessionStore& store, const SessionPlace& root) {
  const std::vector<std::string> dirs = store.TreeDirs(root);
  // A writer makes a blob before the event that names it: what it is about to name must not go.
  if (std::optional<GarbageItem> held = HeldIn(dirs)) return {*std::move(held)};
  std::vector<GarbageItem> items;
  for (const std::string& dir : dirs) {
    const log::Paths paths{dir};
    const std::string id(paths.session_id());
    AddBlobs(paths, id, items);
    AddTemporaries(paths.dir, id, items);
    if (KindOf(paths.blobs()) == EntryKind::kDir) AddTemporaries(paths.blobs(), id, items);
  }
  const std::string agents = log::Paths{root.dir}.agents();
  if (KindOf(agents) == EntryKind::kDir) AddTemporaries(agents, root.session_id, items);
  return items;
}

/// Folders in which no session came to be; not one in which it is just being made.
Status AddUnborn(const SessionStore& store, std::vector<GarbageItem>& items) {
  ASSIGN_OR_RETURN(const std::vector<std::string> dirs, store.UnbornDirs());
  for (const std::string& dir : dirs) {
    const log::Paths paths{dir};
    if (FileLock::Holder(paths.lock())) continue;
    items.push_back({.kind = std::string(kUnborn),
                     .session_id = std::string(paths.session_id()),
                     .path = dir,
                     .bytes = DiskUse(dir).value_or(0)});
  }
  return {};
}

/// Whether it is still garbage, now that its tree is held.
bool StillGarbage(const SessionStore& store, const GarbageItem& item) {
  if (item.kind == "temporary") return IsLeftTemporary(item.path);
  if (item.kind == kUnborn) return log::IsUnborn({item.path});
  if (item.kind == kCopy) return IsUnusedCopy(item.path);
  if (item.kind != "blob") return true;
  const Result<std::string> dir = store.Find(item.session_id);
  if (!dir) return false;
  std::vector<GarbageItem> still;
  AddBlobs({*dir}, item.session_id, still);
  return std::ranges::find(still, item.path, &GarbageItem::path) != still.end();
}

/// A removed session whose deletion has begun. Its name says so: nothing that was half deleted is
/// brought back.
constexpr std::string_view kHalfGone = ".gone";

std::vector<std::string> HalfGone(const SessionStore& store) {
  std::vector<std::string> paths;
  const std::string folder = store.roots().trash();
  const Result<std::vector<DirEntry>> entries = ListDir(folder);
  if (!entries) return paths;
  for (const DirEntry& entry : *entries) {
    if (entry.name.ends_with(kHalfGone)) paths.push_back(folder + "/" + entry.name);
  }
  return paths;
}

Status RemoveFromTrash(const std::string& path) {
  if (path.ends_with(kHalfGone)) return RemoveTree(path);
  const std::string gone = path + std::string(kHalfGone);
  RETURN_IF_ERROR(Rename(path, gone));
  RETURN_IF_ERROR(SyncDir(ParentDir(path)));
  return RemoveTree(gone);
}

/// Of an unborn folder no tree is held.
Status RemoveGarbage(const GarbageItem& item) {
  if (item.kind == kUnborn) return log::RemoveUnborn({item.path});
  return item.kind == "trash" ? RemoveFromTrash(item.path) : RemoveTree(item.path);
}

/// The locks of every tree that has an item, each once.
Result<std::vector<TreeLock>> HoldTrees(const SessionStore& store,
                                        const std::vector<GarbageItem>& items) {
  std::set<std::string> roots;
  for (const GarbageItem& item : items) {
    if (item.kind == "trash" || item.kind == "held" || item.kind == kUnborn ||
        item.session_id.empty())
      continue;
    if (const Result<SessionPlace> place = store.Locate(item.session_id))
      roots.insert(place->root_id);
  }
  std::vector<TreeLock> locks;
  for (const std::string& root : roots) {
    ASSIGN_OR_RETURN(const SessionPlace place, store.Locate(root));
    ASSIGN_OR_RETURN(TreeLock lock, TreeLock::Acquire(store, place));
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace

Result<std::vector<GarbageItem>> FindGarbage(const SessionStore& store, bool with_trash) {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, store.Ids());
  std::vector<GarbageItem> items;
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(const SessionPlace root, store.Locate(id));
    std::vector<GarbageItem> found = GarbageOf(store, root);
    items.insert(items.end(), found.begin(), found.end());
  }
  AddTemporaries(store.roots().sessions(), "", items);
  AddTemporaries(store.roots().undo(), "", items);
  AddUnusedCopies(store.roots().undo(), items);
  RETURN_IF_ERROR(AddUnborn(store, items));
  if (!with_trash) return items;
  ASSIGN_OR_RETURN(const std::vector<protocol::TrashRow> rows, store.Trash());
  for (const std::string& path : HalfGone(store)) {
    items.push_back({.kind = "trash", .path = path, .bytes = DiskUse(path).value_or(0)});
  }
  for (const protocol::TrashRow& row : rows) {
    items.push_back({.kind = "trash",
                     .session_id = row.session_id,
                     .path = store.TrashDir(row),
                     .bytes = row.bytes});
  }
  return items;
}

Result<std::uint64_t> Collect(const SessionStore& store, const std::vector<GarbageItem>& items) {
  ASSIGN_OR_RETURN(const std::vector<TreeLock> locks, HoldTrees(store, items));
  std::uint64_t freed = 0;
  for (const GarbageItem& item : items) {
    if (item.kind == "held" || !StillGarbage(store, item)) continue;
    RETURN_IF_ERROR(RemoveGarbage(item));
    freed += item.bytes;
  }
  return freed;
}

}  // namespace stet::store
