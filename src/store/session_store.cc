#include "store/session_store.h"

#include <algorithm>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/plain_file.h"
#include "log/log.h"
#include "log/summary.h"
#include "log/unborn.h"
#include "protocol/ids.h"
#include "store/meant_session.h"

namespace stet::store {
namespace {

using protocol::SessionSummary;

/// Whether the summary was made from the log as it is now.
bool IsFresh(const SessionSummary& summary, const log::Paths& paths) {
  return PlainFileSize(paths.events()) == summary.log_bytes;
}

SessionSummary SummaryIn(const log::Paths& paths) {
  if (Result<SessionSummary> kept = log::ReadSummary(paths); kept && IsFresh(*kept, paths))
    return *std::move(kept);
  const auto opened = log::Log::Open(paths.dir, {});
  if (opened) return log::MakeSummary((*opened)->header(), (*opened)->index());
  SessionSummary unreadable;
  unreadable.session_id = paths.session_id();
  unreadable.title = fmt::format("(unreadable: {})", opened.error().message);
  log::Bound(unreadable);
  return unreadable;
}

/// The folder says what the session is called and which root it has, whatever its header does.
SessionSummary SummaryOf(const SessionPlace& place) {
  SessionSummary summary = SummaryIn({place.dir});
  summary.session_id = place.session_id;
  summary.root_session_id.reset();
  if (place.is_child) summary.root_session_id = place.root_id;
  return summary;
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

/// What imports and exports have unpacked or staged, a row each.
void AddTemporaryRows(const std::string& sessions, protocol::DiskUseReport& report) {
  const Result<std::vector<DirEntry>> entries = ListDir(sessions);
  if (!entries) return;
  for (const DirEntry& entry : *entries) {
    if (!entry.name.starts_with(kTempFilePrefix)) continue;
    protocol::DiskUseRow row;
    row.session_id = entry.name;
    row.title = "(of an import or export; `stet sessions gc` finds what one left)";
    row.total_bytes = row.other_bytes = stet::DiskUse(sessions + "/" + entry.name).value_or(0);
    report.total_bytes += row.total_bytes;
    report.sessions.push_back(std::move(row));
  }
}

/// Looks from one folder: with thousands of looks most of the time goes into finding the way there.
class RelativeLook {
 public:
  explicit RelativeLook(const std::string& dir)
      : dir_(OpenFile(dir, O_PATH | O_DIRECTORY).value_or(Fd())) {}

  /// A link at the end of the path is not followed.
  [[nodiscard]] bool IsDir(const std::string& path) const {
    struct stat found{};
    return ::fstatat(dir_.get(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(found.st_mode);
  }

 private:
  Fd dir_;
};

/// A folder in a folder: neither it nor the `agents` that it lies in is a link.
bool IsChildFolder(const std::string& dir) {
  return KindOf(dir) == EntryKind::kDir && KindOf(ParentDir(dir)) == EntryKind::kDir;
}

/// Whether the folder, among the roots, is a session's.
bool IsRoot(const std::string& dir) {
  return KindOf(dir) == EntryKind::kDir && !log::IsUnborn({dir});
}

/// Whether something stands there that is not to be written over.
bool IsTaken(const std::string& dir) { return KindOf(dir) && !log::IsUnborn({dir}); }

std::unexpected<Error> FailUnborn(const std::string& dir) {
  return Fail(Code::kNotFound,
              fmt::format("no session {}: {} is what is left of making one that never had a log; "
                          "the id is free, and `stet sessions gc` removes the folder",
                          log::Paths{dir}.session_id(), dir));
}

/// Of the children that have one id.
Result<SessionPlace> OnlyOne(const std::vector<SessionPlace>& children) {
  if (children.size() == 1) return children.front();
  return Fail(Code::kCorrupt, fmt::format("{} children have the id {}: {} and {}; move all but one "
                                          "of these folders away",
                                          children.size(), children[0].session_id, children[0].dir,
                                          children[1].dir));
}

}  // namespace

std::vector<std::string> SessionsIn(const std::string& dir) {
  if (KindOf(dir) != EntryKind::kDir) return {};
  const Result<std::vector<DirEntry>> entries = ListDir(dir);
  return entries ? SessionFolders(*entries) : std::vector<std::string>();
}

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
  const bool unborn = log::IsUnborn({NewDir(id)});
  if (root == EntryKind::kDir && !unborn) return SessionPlace{id, id, NewDir(id), false};
  if (last_child_ && last_child_->session_id == id && IsChildFolder(last_child_->dir))
    return *last_child_;
  ASSIGN_OR_RETURN(const std::vector<SessionPlace> children, ChildrenNamed(id));
  if (!children.empty()) {
    ASSIGN_OR_RETURN(last_child_, OnlyOne(children));
    return *last_child_;
  }
  if (unborn) return FailUnborn(NewDir(id));
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
  if (IsTaken(child.dir) || IsTaken(NewDir(session_id)))
    return Fail(Code::kConflict, fmt::format("session {} is there already", session_id));
  return child;
}

Result<std::vector<std::string>> SessionStore::RootFolders() const {
  const Result<std::vector<DirEntry>> entries = ListDir(roots_.sessions());
  if (!entries && entries.error().code == Code::kNotFound) return std::vector<std::string>();
  if (!entries) return std::unexpected(entries.error());
  return SessionFolders(*entries);
}

Result<std::vector<std::string>> SessionStore::Ids() const {
  ASSIGN_OR_RETURN(std::vector<std::string> ids, RootFolders());
  std::erase_if(ids, [&](const std::string& id) { return log::IsUnborn({NewDir(id)}); });
  return ids;
}

std::vector<std::string> SessionStore::ChildIds(std::string_view root_id) const {
  std::vector<std::string> ids = SessionsIn(log::Paths{NewDir(root_id)}.agents());
  std::erase_if(ids, [&](const std::string& id) { return log::IsUnborn({ChildDir(root_id, id)}); });
  return ids;
}

Result<std::vector<std::string>> SessionStore::UnbornDirs() const {
  std::vector<std::string> dirs;
  ASSIGN_OR_RETURN(const std::vector<std::string> root_ids, RootFolders());
  for (const std::string& root_id : root_ids) {
    for (std::string& dir : TreeDirs({root_id, root_id, NewDir(root_id), false})) {
      if (log::IsUnborn({dir})) dirs.push_back(std::move(dir));
    }
  }
  return dirs;
}

Result<std::vector<SessionPlace>> SessionStore::ChildrenNamed(std::string_view session_id) const {
  std::vector<SessionPlace> found;
  ASSIGN_OR_RETURN(const std::vector<std::string> root_ids, RootFolders());
  const RelativeLook look(roots_.sessions());
  for (const std::string& root_id : root_ids) {
    if (!look.IsDir(fmt::format("{}/agents/{}", root_id, session_id))) continue;
    std::string dir = ChildDir(root_id, session_id);
    if (IsChildFolder(dir) && !log::IsUnborn({dir}))
      found.push_back({std::string(session_id), root_id, std::move(dir), true});
  }
  return found;
}

Result<std::vector<SessionPlace>> SessionStore::Children() const {
  std::vector<SessionPlace> found;
  ASSIGN_OR_RETURN(const std::vector<std::string> root_ids, RootFolders());
  const RelativeLook look(roots_.sessions());
  for (const std::string& root_id : root_ids) {
    if (!look.IsDir(root_id + "/agents")) continue;
    for (const std::string& id : ChildIds(root_id))
      found.push_back({id, root_id, ChildDir(root_id, id), true});
  }
  return found;
}

std::vector<std::string> SessionStore::TreeDirs(const SessionPlace& place) const {
  std::vector<std::string> dirs{place.dir};
  if (place.is_child) return dirs;
  for (const std::string& id : SessionsIn(log::Paths{place.dir}.agents()))
    dirs.push_back(ChildDir(place.root_id, id));
  return dirs;
}

Result<std::vector<SessionSummary>> SessionStore::List(bool all) const {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, Ids());
  std::vector<SessionSummary> roots;
  roots.reserve(ids.size());
  for (const std::string& id : ids) roots.push_back(SummaryOf({id, id, NewDir(id), false}));
  std::ranges::stable_sort(roots, std::ranges::greater(), &SessionSummary::updated_at);
  if (!all) return roots;
  std::vector<SessionSummary> listed;
  for (SessionSummary& root : roots) {
    const std::string root_id = root.session_id;
    listed.push_back(std::move(root));
    std::vector<SessionSummary> children;
    for (const std::string& id : ChildIds(root_id))
      children.push_back(SummaryOf({id, root_id, ChildDir(root_id, id), true}));
    std::ranges::stable_sort(children, {}, &SessionSummary::created_at);
    std::ranges::move(children, std::back_inserter(listed));
  }
  return listed;
}

Result<std::string> SessionStore::Newest(const std::string& cwd) const {
  ASSIGN_OR_RETURN(const std::vector<SessionSummary> all, List());
  const auto said = [&](const SessionSummary& one) {
    return one.cwd == cwd && one.user_messages > 0;
  };
  auto found = std::ranges::find_if(all, said);
  if (found == all.end()) found = std::ranges::find(all, cwd, &SessionSummary::cwd);
  if (found != all.end()) return found->session_id;
  return Fail(Code::kNotFound,
              fmt::format("no session was started in {}: nothing to continue there", cwd));
}

Result<SessionSummary> SessionStore::Describe(const std::string& session_id) const {
  ASSIGN_OR_RETURN(const SessionPlace place, Locate(session_id));
  return SummaryOf(place);
}

Result<std::string> SessionStore::Resolve(std::string_view typed) const {
  // A root's whole id needs no list.
  const bool whole = protocol::IsSessionId(typed);
  if (whole && IsRoot(NewDir(typed))) return std::string(typed);
  ASSIGN_OR_RETURN(std::vector<std::string> ids, Ids());
  ASSIGN_OR_RETURN(std::vector<SessionPlace> children, Children());
  for (const SessionPlace& child : children) ids.push_back(child.session_id);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  if (whole && std::ranges::find(ids, typed) == ids.end() && log::IsUnborn({NewDir(typed)}))
    return FailUnborn(NewDir(typed));
  ASSIGN_OR_RETURN(std::string id, OneMeant(ids, typed, "`stet sessions ls --all` lists them"));
  if (IsRoot(NewDir(id))) return id;
  std::erase_if(children, [&](const SessionPlace& child) { return child.session_id != id; });
  if (children.empty()) return Fail(Code::kNotFound, fmt::format("no session {}", id));
  ASSIGN_OR_RETURN(last_child_, OnlyOne(children));
  return id;
}

Result<protocol::DiskUseReport> SessionStore::DiskUse() const {
  protocol::DiskUseReport report;
  ASSIGN_OR_RETURN(const std::vector<SessionSummary> summaries, List());
  for (const SessionSummary& summary : summaries) {
    const std::string& id = summary.session_id;
    protocol::DiskUseRow row;
    row.session_id = id;
    row.title = summary.title;
    for (const std::string& dir : TreeDirs({id, id, NewDir(id), false})) {
      const log::Paths paths{dir};
      row.log_bytes += stet::DiskUse(paths.events()).value_or(0);
      row.blob_bytes += stet::DiskUse(paths.blobs()).value_or(0);
    }
    row.children = ChildIds(id).size();
    row.total_bytes = stet::DiskUse(NewDir(id)).value_or(0);
    row.other_bytes = row.total_bytes - std::min(row.total_bytes, row.log_bytes + row.blob_bytes);
    report.total_bytes += row.total_bytes;
    report.sessions.push_back(std::move(row));
  }
  AddTemporaryRows(roots_.sessions(), report);
  std::ranges::stable_sort(report.sessions, std::ranges::greater(),
                           &protocol::DiskUseRow::total_bytes);
  // What is in it: a trash that was emptied is no bytes.
  const Result<std::vector<DirEntry>> removed = ListDir(roots_.trash());
  if (removed) {
    for (const DirEntry& entry : *removed)
      report.trash_bytes += stet::DiskUse(roots_.trash() + "/" + entry.name).value_or(0);
  }
  report.total_bytes += report.trash_bytes;
  return report;
}

}  // namespace stet::store
