// SessionStore, the trash: removed sessions, each a folder named for the session, for the root in
// which it lay if it was a child that was removed alone, and for the time:
// "<session id>[.<root id>].<unix ms>".
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fs.h"
#include "client/cache.h"
#include "log/summary.h"
#include "log/unborn.h"
#include "protocol/ids.h"
#include "store/meant_session.h"
#include "store/session_store.h"
#include "store/tree_lock.h"

namespace stet::store {
namespace {

using protocol::TrashRow;

std::string TrashName(const TrashRow& row) {
  if (!row.root_session_id) return fmt::format("{}.{}", row.session_id, row.removed_at);
  return fmt::format("{}.{}.{}", row.session_id, *row.root_session_id, row.removed_at);
}

/// Nothing when no removed session is called so.
std::optional<TrashRow> ParseTrashName(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos) return std::nullopt;
  TrashRow row;
  const std::string_view digits = name.substr(last + 1);
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), row.removed_at);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  const std::string_view ids = name.substr(0, last);
  const std::size_t first = ids.find('.');
  row.session_id = ids.substr(0, first);
  if (first != std::string_view::npos) row.root_session_id = ids.substr(first + 1);
  const bool named = protocol::IsSessionId(row.session_id) &&
                     (!row.root_session_id || protocol::IsSessionId(*row.root_session_id));
  return named ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace

std::string SessionStore::TrashDir(const TrashRow& row) const {
  return fmt::format("{}/{}", roots_.trash(), TrashName(row));
}

Status SessionStore::Remove(const std::string& session_id) {
  ASSIGN_OR_RETURN(const SessionPlace place, Locate(session_id));
  // Held until the folder is gone from its place, so that no writer loses its session under its
  // hands.
  ASSIGN_OR_RETURN(const TreeLock lock, TreeLock::Acquire(*this, place));
  const std::vector<std::string> dirs = TreeDirs(place);
  RETURN_IF_ERROR(MakeDirs(roots_.trash()));
  TrashRow row;
  row.session_id = session_id;
  row.removed_at = SystemClock().Now();
  if (place.is_child) row.root_session_id = place.root_id;
  // One of this id may have gone in the same millisecond.
  while (KindOf(TrashDir(row))) ++row.removed_at;
  RETURN_IF_ERROR(Rename(place.dir, TrashDir(row)));
  RETURN_IF_ERROR(SyncDir(roots_.trash()));
  // What clients kept of them is no reason for them to stay.
  if (const Result<std::string> device = config::DeviceId(roots_)) {
    const client::Cache cache(roots_.transcripts());
    for (const std::string& dir : dirs)
      cache.Forget(*device, std::string(log::Paths{dir}.session_id()));
  }
  return SyncDir(ParentDir(place.dir));
}

Result<std::vector<TrashRow>> SessionStore::Trash() const {
  std::vector<TrashRow> rows;
  const Result<std::vector<DirEntry>> entries = ListDir(roots_.trash());
  if (!entries && entries.error().code == Code::kNotFound) return rows;
  if (!entries) return std::unexpected(entries.error());
  for (const DirEntry& entry : *entries) {
    std::optional<TrashRow> row = ParseTrashName(entry.name);
    if (!row || entry.kind != EntryKind::kDir) continue;
    const std::string dir = fmt::format("{}/{}", roots_.trash(), entry.name);
    if (const Result<protocol::SessionSummary> summary = log::ReadSummary({dir}))
      row->title = summary->title;
    row->bytes = stet::DiskUse(dir).value_or(0);
    rows.push_back(*std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &TrashRow::removed_at);
  return rows;
}

Result<std::string> SessionStore::Restore(std::string_view typed) {
  ASSIGN_OR_RETURN(const std::vector<TrashRow> rows, Trash());
  std::vector<std::string> ids;
  for (const TrashRow& row : rows) ids.push_back(row.session_id);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  ASSIGN_OR_RETURN(std::string id,
                   OneMeant(ids, typed, "`stet sessions restore` without an id lists the trash"));
  // Of several removals of one id the newest is brought back: rows are newest first.
  const auto row = std::ranges::find(rows, id, &TrashRow::session_id);
  std::vector<std::string> brought = SessionsIn(log::Paths{TrashDir(*row)}.agents());
  brought.push_back(id);
  for (const std::string& one : brought) {
    if (Locate(one))
      return Fail(Code::kConflict,
                  fmt::format("session {} is there already: remove it first", one));
  }
  std::string dir = NewDir(id);
  if (row->root_session_id) {
    const Result<SessionPlace> place = NewChild(*row->root_session_id, id);
    if (!place)
      return Fail(place.error().code,
                  fmt::format("{} lay in the session {}, which is not there: restore that first",
                              id, *row->root_session_id));
    dir = place->dir;
  }
  RETURN_IF_ERROR(MakeDirs(ParentDir(dir)));
  RETURN_IF_ERROR(log::RemoveUnborn({dir}));
  RETURN_IF_ERROR(Rename(TrashDir(*row), dir));
  RETURN_IF_ERROR(SyncDir(ParentDir(dir)));
  RETURN_IF_ERROR(SyncDir(roots_.trash()));
  return id;
}

}  // namespace stet::store
