#include "lane/restore.h"

#include <map>

#include "agent/workbench.h"
#include "base/beneath.h"
#include "base/hash.h"

namespace stet::lane {
namespace {

constexpr mode_t kNewFileMode = 0666;  // Less the umask.

/// What happened to one file: the first fact says how it was, the last how it was left.
struct Change {
  protocol::FileFact first;
  protocol::FileFact last;
  bool own = true;  // All of it was written by this device.
};

Result<std::map<std::string, Change>> ChangesAfter(const log::Log& log, log::Ordinal from,
                                                   std::uint64_t own_since) {
  std::map<std::string, Change> changes;
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal event = from; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::FileFact>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    const auto* fact = std::get_if<protocol::FileFact>(&found.payload);
    if (fact == nullptr || fact->op == "read") continue;
    const auto [change, is_new] = changes.try_emplace(fact->path, Change{*fact, *fact});
    if (!is_new) change->second.last = *fact;
    change->second.own = change->second.own && entries[event].seq >= own_since;
  }
  return changes;
}

/// The file's name in a folder of the project that is held; kInvalid outside of it. Folders that
/// are gone are made again only where a file is put back.
Result<Beneath> PlaceOf(const RestoreBounds& bounds, const std::string& path, Parents parents) {
  for (const std::string& root : bounds.roots) {
    Result<Beneath> place = Beneath::Open(root, path, parents);
    if (place || place.error().code != Code::kInvalid) return place;
  }
  return Fail(Code::kInvalid, path + " is no file of the project");
}

/// The hash of what is there; nothing when there is no file.
Result<std::optional<std::string>> HashNow(const Result<Beneath>& place) {
  const auto content = place ? place->Read() : std::unexpected(place.error());
  if (content) return Sha256Hex(content->bytes);
  if (content.error().code == Code::kNotFound) return std::nullopt;
  return std::unexpected(content.error());
}

/// A blob that is not what the fact says of the file had secrets taken out: it is no content for
/// it. A file that was not there before is put back by deleting it.
bool IsKept(const protocol::FileFact& first) {
  if (first.op == "outside_write") return false;
  return first.before_blob ? first.before_blob == first.before : !first.before;
}

/// False: it was changed just now, and is left.
Result<bool> PutBack(log::Log& log, const RestoreBounds& bounds, const Change& change) {
  protocol::FileFact fact;
  fact.op = change.first.before ? "write" : "delete";
  fact.path = change.first.path;
  fact.before = change.last.after;
  fact.after = change.first.before;
  std::string content;
  if (change.first.before_blob) {
    ASSIGN_OR_RETURN(content, log.blobs().Get(*change.first.before_blob));
  }
  const Result<Beneath> place =
      PlaceOf(bounds, fact.path, change.first.before ? Parents::kMake : Parents::kMustExist);
  if (!place && place.error().code != Code::kNotFound) return std::unexpected(place.error());
  // Looked at again, in the folder that is written.
  ASSIGN_OR_RETURN(const auto hash, HashNow(place));
  if (hash != change.last.after) return false;
  if (const auto now = place ? place->Read() : std::unexpected(place.error())) {
    ASSIGN_OR_RETURN(fact.before_blob, log.blobs().Put(now->bytes));
  }
  RETURN_IF_ERROR(agent::AppendEvent(log, std::move(fact), {}));
  if (change.first.before) {
    RETURN_IF_ERROR(place->Write(content, kNewFileMode));
    return true;
  }
  const Status removed = place ? place->Remove() : Status();
  if (!removed && removed.error().code != Code::kNotFound) return std::unexpected(removed.error());
  return true;
}

}  // namespace

Result<protocol::FileRows> FilesSince(log::Log& log, const RestoreBounds& bounds,
                                      const std::optional<std::string>& target, bool restore) {
  log::Ordinal from = 0;
  if (target) {
    ASSIGN_OR_RETURN(const log::Ordinal event, log.Find(*target));
    from = event + 1;
  }
  ASSIGN_OR_RETURN(const auto changes, ChangesAfter(log, from, bounds.own_since));
  protocol::FileRows rows;
  for (const auto& [path, change] : changes) {
    protocol::FileRow& row = rows.emplace_back();
    row.path = path;
    row.op = change.last.op;
    const Result<std::optional<std::string>> now =
        HashNow(PlaceOf(bounds, path, Parents::kMustExist));
    row.can_restore = now && change.own && IsKept(change.first);
    row.changed_since = !now || *now != change.last.after;
    if (!restore || !row.can_restore || row.changed_since) continue;
    ASSIGN_OR_RETURN(row.restored, PutBack(log, bounds, change));
    row.changed_since = !row.restored;
  }
  return rows;
}

}  // namespace stet::lane
