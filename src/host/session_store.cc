#include "host/session_store.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "client/cache.h"
#include "log/log.h"
#include "log/summary.h"
#include "protocol/ids.h"

namespace stet::host {
namespace {

using protocol::SessionSummary;

/// A removed session's folder is "<session id>.<unix ms>".
struct TrashName {
  std::string session_id;
  std::int64_t removed_at = 0;
};

std::optional<TrashName> ParseTrashName(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  TrashName parsed{std::string(name.substr(0, dot)), 0};
  const std::string_view digits = name.substr(dot + 1);
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), parsed.removed_at);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  return protocol::IsSessionId(parsed.session_id) ? std::optional(std::move(parsed)) : std::nullopt;
}

/// Whether the summary was made from the log as it is now.
bool IsFresh(const SessionSummary& summary, const log::Paths& paths) {
  const Result<FileStat> events = StatFile(paths.events());
  return events && events->size == summary.log_bytes;
}

SessionSummary SummaryOf(const log::Paths& paths) {
  if (Result<SessionSummary> kept = log::ReadSummary(paths); kept && IsFresh(*kept, paths))
    return *std::move(kept);
  if (const auto opened = log::Log::Open(paths.dir, {}))
    return log::MakeSummary((*opened)->header(), (*opened)->index());
  SessionSummary unreadable;
  unreadable.session_id = paths.session_id();
  unreadable.title = "(unreadable: see `stet sessions verify`)";
  return unreadable;
}

/// The names among `entries` that are sessions' folders.
std::vector<std::string> SessionFolders(const std::vector<DirEntry>& entries) {
  std::vector<std::string> ids;
  for (const DirEntry& entry : entries) {
    if (entry.kind == EntryKind::kDir && protocol::IsSessionId(entry.name))
      ids.push_back(entry.name);
  }
  return ids;
}

/// The ids that `typed` may mean: itself, or all that begin with it.
std::vector<std::string> Candidates(const std::vector<std::string>& ids, std::string_view typed) {
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id == typed) return {id};
    if (id.starts_with(typed) || id.starts_with("ses_" + std::string(typed))) found.push_back(id);
  }
  return found;
}

Result<std::string> TheOne(const std::vector<std::string>& ids, std::string_view typed,
                           std::string_view hint) {
  const std::vector<std::string> found = Candidates(ids, typed);
  if (typed.empty() || found.empty())
    return Fail(Code::kNotFound, fmt::format("no session \"{}\": {}", typed, hint));
  if (found.size() == 1) return found.front();
  constexpr std::size_t kShown = 5;
  return Fail(
      Code::kConflict,
      fmt::format("\"{}\" may mean {} sessions, {}{}: type more of the id", typed, found.size(),
                  fmt::join(found.begin(), found.begin() + std::min(kShown, found.size()), ", "),
                  found.size() > kShown ? ", ..." : ""));
}

}  // namespace

std::string SessionStore::NewDir(std::string_view session_id) const {
  return fmt::format("{}/{}", roots_.sessions(), session_id);
}

std::string SessionStore::ChildDir(std::string_view root_id, std::string_view session_id) const {
  return fmt::format("{}/{}", log::Paths{NewDir(root_id)}.agents(), session_id);
}

Result<SessionPlace> SessionStore::Locate(std::string_view session_id) const {
  if (!protocol::IsSessionId(session_id))
    return Fail(Code::kInvalid, fmt::format("\"{}\" cannot name a session", session_id));
  const std::string id(session_id);
  const Result<EntryKind> root = KindOf(NewDir(id));
  if (root == EntryKind::kDir) return SessionPlace{id, id, NewDir(id), false};
  ASSIGN_OR_RETURN(const std::vector<SessionPlace> children, ChildrenNamed(id));
  if (children.size() == 1) return children.front();
  if (children.size() > 1) {
    return Fail(Code::kCorrupt,
                fmt::format("{} children have the id {}: {} and {}; move all but one of these "
                            "folders away",
                            children.size(), id, children[0].dir, children[1].dir));
  }
  if (root)
    return Fail(Code::kNotFound,
                fmt::format("no session {}: {} is not a folder, and links are not followed", id,
                            NewDir(id)));
  return Fail(Code::kNotFound, fmt::format("no session {}", id));
}

Result<std::string> SessionStore::Find(std::string_view session_id) const {
  ASSIGN_OR_RETURN(SessionPlace place, Locate(session_id));
  return std::move(place.dir);
}

Status SessionStore::CheckFree(std::string_view session_id) const {
  const Result<SessionPlace> taken = Locate(session_id);
  if (!taken && taken.error().code == Code::kNotFound) return {};
  if (!taken) return std::unexpected(taken.error());
  return Fail(Code::kConflict, fmt::format("session {} is there already, in {}: choose another id",
                                           session_id, taken->dir));
}

Result<SessionPlace> SessionStore::NewChild(std::string_view parent_id,
                                            std::string_view session_id) const {
  if (!protocol::IsSessionId(session_id))
    return Fail(Code::kInvalid, fmt::format("\"{}\" cannot name a session", session_id));
  ASSIGN_OR_RETURN(const SessionPlace parent, Locate(parent_id));
  SessionPlace child{std::string(session_id), parent.root_id, ChildDir(parent.root_id, session_id),
                     true};
  // Children of other roots are not looked at: an id is 80 random bits.
  if (KindOf(child.dir) || KindOf(NewDir(session_id)))
    return Fail(Code::kConflict, fmt::format("session {} is there already", session_id));
  return child;
}

Result<std::vector<std::string>> SessionStore::Ids() const {
  const Result<std::vector<DirEntry>> entries = ListDir(roots_.sessions());
  if (!entries && entries.error().code == Code::kNotFound) return std::vector<std::string>();
  if (!entries) return std::unexpected(entries.error());
  return SessionFolders(*entries);
}

std::vector<std::string> SessionStore::ChildIds(std::string_view root_id) const {
  const std::string agents = log::Paths{NewDir(root_id)}.agents();
  if (KindOf(agents) != EntryKind::kDir) return {};
  const Result<std::vector<DirEntry>> entries = ListDir(agents);
  return entries ? SessionFolders(*entries) : std::vector<std::string>();
}

Result<std::vector<SessionPlace>> SessionStore::ChildrenNamed(std::string_view session_id) const {
  std::vector<SessionPlace> found;
  ASSIGN_OR_RETURN(const std::vector<std::string> root_ids, Ids());
  for (const std::string& root_id : root_ids) {
    std::string dir = ChildDir(root_id, session_id);
    // The folder above it is looked at only when this one is there.
    if (KindOf(dir) != EntryKind::kDir || KindOf(ParentDir(dir)) != EntryKind::kDir) continue;
    found.push_back({std::string(session_id), root_id, std::move(dir), true});
  }
  return found;
}

Result<std::vector<SessionSummary>> SessionStore::List() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, Ids());
  std::vector<SessionSummary> summaries;
  summaries.reserve(ids.size());
  for (const std::string& id : ids) summaries.push_back(SummaryOf({NewDir(id)}));
  std::ranges::stable_sort(summaries, std::ranges::greater(), &SessionSummary::updated_at);
  return summaries;
}

Result<SessionSummary> SessionStore::Describe(const std::string& session_id) const {
  ASSIGN_OR_RETURN(std::string dir, Find(session_id));
  return SummaryOf({std::move(dir)});
}

Result<std::string> SessionStore::Resolve(std::string_view typed) const {
  // A whole id needs no list.
  const Result<SessionPlace> exact = Locate(typed);
  if (exact) return exact->session_id;
  if (exact.error().code == Code::kCorrupt) return std::unexpected(exact.error());
  ASSIGN_OR_RETURN(std::vector<std::string> ids, Ids());
  for (std::size_t i = 0, roots = ids.size(); i < roots; ++i) {
    const std::vector<std::string> children = ChildIds(ids[i]);
    ids.insert(ids.end(), children.begin(), children.end());
  }
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  ASSIGN_OR_RETURN(const std::string id, TheOne(ids, typed, "`stet sessions ls --all` lists them"));
  ASSIGN_OR_RETURN(SessionPlace place, Locate(id));
  return std::move(place.session_id);
}

Status SessionStore::Remove(const std::string& session_id) {
  ASSIGN_OR_RETURN(std::string dir, Find(session_id));
  const log::Paths paths{std::move(dir)};
  // Held until the folder is gone from its place, so that no writer loses its session under its
  // hands.
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(paths.lock()));
  RETURN_IF_ERROR(MakeDirs(roots_.trash()));
  RETURN_IF_ERROR(
      Rename(paths.dir, fmt::format("{}/{}.{}", roots_.trash(), session_id, SystemClock().Now())));
  RETURN_IF_ERROR(SyncDir(roots_.trash()));
  // What clients kept of it is no reason for it to stay.
  if (const Result<std::string> device = config::DeviceId(roots_))
    client::Cache(roots_.transcripts()).Forget(*device, session_id);
  return SyncDir(roots_.sessions());
}

Result<std::vector<protocol::TrashRow>> SessionStore::Trash() const {
  std::vector<protocol::TrashRow> rows;
  const Result<std::vector<DirEntry>> entries = ListDir(roots_.trash());
  if (!entries && entries.error().code == Code::kNotFound) return rows;
  if (!entries) return std::unexpected(entries.error());
  for (const DirEntry& entry : *entries) {
    const std::optional<TrashName> name = ParseTrashName(entry.name);
    if (!name || entry.kind != EntryKind::kDir) continue;
    const std::string dir = fmt::format("{}/{}", roots_.trash(), entry.name);
    protocol::TrashRow row;
    row.session_id = name->session_id;
    row.removed_at = name->removed_at;
    if (const Result<SessionSummary> summary = log::ReadSummary({dir})) row.title = summary->title;
    row.bytes = stet::DiskUse(dir).value_or(0);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &protocol::TrashRow::removed_at);
  return rows;
}

Result<std::string> SessionStore::Restore(std::string_view typed) {
  ASSIGN_OR_RETURN(const std::vector<protocol::TrashRow> rows, Trash());
  std::vector<std::string> ids;
  for (const protocol::TrashRow& row : rows) ids.push_back(row.session_id);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  ASSIGN_OR_RETURN(std::string id,
                   TheOne(ids, typed, "`stet sessions restore` without an id lists the trash"));
  if (Exists(NewDir(id)))
    return Fail(Code::kConflict, fmt::format("session {} is there already: remove it first", id));
  // Of several removals of one id the newest is brought back: rows are newest first.
  const auto row = std::ranges::find(rows, id, &protocol::TrashRow::session_id);
  RETURN_IF_ERROR(MakeDirs(roots_.sessions()));
  RETURN_IF_ERROR(Rename(fmt::format("{}/{}.{}", roots_.trash(), id, row->removed_at), NewDir(id)));
  RETURN_IF_ERROR(SyncDir(roots_.sessions()));
  RETURN_IF_ERROR(SyncDir(roots_.trash()));
  return id;
}

Result<protocol::DiskUseReport> SessionStore::DiskUse() const {
  protocol::DiskUseReport report;
  ASSIGN_OR_RETURN(const std::vector<SessionSummary> summaries, List());
  for (const SessionSummary& summary : summaries) {
    const log::Paths paths{NewDir(summary.session_id)};
    protocol::DiskUseRow row;
    row.session_id = summary.session_id;
    row.title = summary.title;
    row.log_bytes = stet::DiskUse(paths.events()).value_or(0);
    row.blob_bytes = stet::DiskUse(paths.blobs()).value_or(0);
    row.total_bytes = stet::DiskUse(paths.dir).value_or(0);
    row.other_bytes = row.total_bytes - std::min(row.total_bytes, row.log_bytes + row.blob_bytes);
    report.total_bytes += row.total_bytes;
    report.sessions.push_back(std::move(row));
  }
  std::ranges::stable_sort(report.sessions, std::ranges::greater(),
                           &protocol::DiskUseRow::total_bytes);
  report.trash_bytes = stet::DiskUse(roots_.trash()).value_or(0);
  report.total_bytes += report.trash_bytes;
  return report;
}

}  // namespace stet::host
