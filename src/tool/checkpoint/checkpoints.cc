#include "tool/checkpoint/checkpoints.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/fs.h"
#include "base/hash.h"
#include "tool/in_thread.h"

namespace stet::tool {
namespace {

/// Of manifests that must be read one after the other.
constexpr int kMaxDifferences = 64;

/// Of the clock by which a file system says when a file was changed, and then some.
constexpr std::uint64_t kTick = 20'000'000;

std::uint64_t NowNanos() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return NanosOf(now);
}

constexpr std::uint32_t kKindBits = 0170000;
constexpr std::uint32_t kIsLink = 0120000;

ManifestEntry EntryOf(const ScannedFile& file) {
  return {.kind = (file.mode & kKindBits) == kIsLink ? ManifestKind::kLink : ManifestKind::kFile,
          .mode = file.mode & kEntryModeBits,
          .size = file.size,
          .mtime_ns = file.mtime_ns,
          .ctime_ns = file.ctime_ns,
          .inode = file.inode};
}

ManifestEntry EntryOf(const ScannedFolder& folder) {
  return {.kind = ManifestKind::kFolder, .mode = folder.mode};
}

std::optional<ManifestEntry> EntryAfter(const ScanChange& change) {
  if (change.file_after != nullptr) return EntryOf(*change.file_after);
  if (change.folder_after != nullptr) return EntryOf(*change.folder_after);
  return std::nullopt;
}

std::optional<ManifestEntry> EntryBefore(const ScanChange& change) {
  if (change.file_before != nullptr) return EntryOf(*change.file_before);
  if (change.folder_before != nullptr) return EntryOf(*change.folder_before);
  return std::nullopt;
}

const ProjectScan& NoScan() {
  static const ProjectScan none{.top = std::make_shared<ScannedFolder>()};
  return none;
}

/// What a scan has that the entries have not, or otherwise, or not any more.
std::vector<SeenChange> Differences(const ManifestEntries& entries, const ProjectScan& scan) {
  std::vector<SeenChange> changes;
  std::set<std::string, std::less<>> there;
  for (const ScanChange& one : CompareScans(NoScan(), scan)) {
    std::optional<ManifestEntry> after = EntryAfter(one);
    const auto known = entries.find(one.path);
    there.insert(one.path);
    if (known == entries.end())
      changes.push_back({.path = one.path, .before = {}, .after = std::move(after)});
    else if (!known->second.LooksLike(*after))
      changes.push_back({.path = one.path, .before = known->second, .after = std::move(after)});
  }
  for (const auto& [path, entry] : entries) {
    // Behind the end of a scan that was cut nothing is known.
    if (!there.contains(path) && !scan.capped)
      changes.push_back({.path = path, .before = entry, .after = {}});
  }
  return changes;
}

std::vector<SeenChange> Differences(const ManifestEntries& entries, const ProjectScan& before,
                                    const ProjectScan& after) {
  std::vector<SeenChange> changes;
  for (const ScanChange& one : CompareScans(before, after)) {
    SeenChange& change = changes.emplace_back();
    change.path = one.path;
    const auto known = entries.find(one.path);
    change.before = known != entries.end() ? std::optional(known->second) : EntryBefore(one);
    change.after = EntryAfter(one);
  }
  return changes;
}

}  // namespace

Checkpoints::Checkpoints(Setup setup)
    : setup_(std::move(setup)),
      copies_(setup_.store, setup_.session),
      git_(setup_.session + "/git") {}

void Checkpoints::TaskEnded(const std::string& call_id) {
  for (TaskOf& task : tasks_) task.ended = task.ended || task.call_id == call_id;
}

Async<Result<Seen>> Checkpoints::Look(std::shared_ptr<ProjectView> view, Loop& loop,
                                      CancelToken cancel,
                                      std::shared_ptr<const ProjectScan> since) {
  if (!keeps() && !scan_) scan_ = std::move(since);
  // What is held of repositories may have vanished though no file of the project has changed.
  if (scan_ && !git_.holds() && view->Unchanged() == scan_)
    co_return Seen{.scan = scan_, .changes = {}};
  CO_RETURN_IF_ERROR(FindLast());
  const std::vector<TaskOf> tasks = tasks_;
  auto work = [this, view](const CancelToken& token) { return LookInThread(*view, token); };
  Result<Seen> seen = co_await InThread<Seen>(loop, std::move(cancel), std::move(work));
  if (seen) Settle(tasks, *seen);
  co_return seen;
}

/// Of what was seen after these were as they are here.
void Checkpoints::Settle(const std::vector<TaskOf>& tasks, Seen& seen) {
  for (const TaskOf& task : tasks) {
    if (task.ended)
      std::erase_if(tasks_, [&](const TaskOf& one) { return one.call_id == task.call_id; });
  }
  if (tasks.empty()) return;
  seen.task_call = tasks.front().call_id;
  seen.unsure = !tasks.front().alone;
}

Async<Result<Checkpoints::Taken>> Checkpoints::Take(std::shared_ptr<ProjectView> view,
                                                    std::string_view reason, Loop& loop,
                                                    CancelToken cancel) {
  if (!keeps())
    co_return Fail(Code::kUnsupported, "nothing of this folder is kept: it is not only a project");
  const bool written = manifest_ && changed_.empty() && !git_.holds();
  if (written && scan_ && view->Unchanged() == scan_)
    co_return Taken{.seen = {.scan = scan_, .changes = {}}, .event = EventOf(reason)};
  CO_RETURN_IF_ERROR(FindLast());
  const std::vector<TaskOf> tasks = tasks_;
  auto work = [this, view, reason](const CancelToken& token) {
    return TakeInThread(*view, reason, token);
  };
  Result<Taken> taken = co_await InThread<Taken>(loop, std::move(cancel), std::move(work));
  if (taken) Settle(tasks, taken->seen);
  co_return taken;
}

NotCovered Checkpoints::not_covered() const {
  NotCovered none{.paths = {uncovered_.begin(), uncovered_.end()}};
  none.more = scan_ != nullptr && scan_->capped;
  return none;
}

Result<Seen> Checkpoints::LookInThread(ProjectView& view, const CancelToken& cancel) {
  const std::lock_guard lock(mutex_);
  Open(view.root());
  Seen seen;
  ASSIGN_OR_RETURN(seen.scan, view.Look(cancel));
  if (scan_)
    seen.changes = Differences(entries_, *scan_, *seen.scan);
  else if (keeps())
    seen.changes = Differences(entries_, *seen.scan);
  if (keeps()) {
    const std::uint64_t since_ns = NowNanos() - kTick;
    AddFresh(view.root(), since_ns, seen.changes);
    RETURN_IF_ERROR(Apply(view.root(), seen, cancel));
    NoteFresh(seen.changes, since_ns);
  }
  scan_ = seen.scan;
  return seen;
}

std::string Checkpoints::KnownPath(const std::string& project) const {
  return setup_.store + "/known-" + FastHashHex(project);
}

/// What looks as it did to a session before this one is not read again. Gives back the others.
std::vector<ToKeep> Checkpoints::AdoptKnown(const std::string& project, std::vector<ToKeep> files) {
  const auto text = ReadFile(KnownPath(project));
  const auto known = text ? ParseManifest(*text) : std::unexpected(text.error());
  if (!known) return files;
  std::erase_if(files, [&](const ToKeep& file) {
    const auto entry = known->entries.find(file.path);
    if (entry == known->entries.end() || !entry->second.LooksLike(*file.entry)) return false;
    const Kept& kept = entry->second.kept;
    if (kept.in != Kept::In::kCopies || !copies_.Adopt(kept.id)) return false;
    file.entry->kept = kept;
    return true;
  });
  return files;
}

/// Within a tick of the clock a file is changed without a trace in what stat(2) says: what was
/// written just before the last look is read again, and is a change when its content is another.
void Checkpoints::AddFresh(const std::string& project, std::uint64_t since_ns,
                           std::vector<SeenChange>& changes) {
  for (const SeenChange& change : changes) fresh_.erase(change.path);
  std::erase_if(fresh_, [&](const std::string& path) {
    const auto entry = entries_.find(path);
    const Result<ManifestEntry> now = EntryNow(project, path);
    if (entry == entries_.end() || !now || now->kind != ManifestKind::kFile) return true;
    const Result<Beneath> place = Beneath::Open(project, project + "/" + path);
    const auto content = place ? place->Read() : std::unexpected(place.error());
    const Kept& kept = entry->second.kept;
    const bool same =
        content && kept.in == Kept::In::kCopies && Sha256Hex(content->bytes) == kept.id;
    if (!same) changes.push_back({.path = path, .before = entry->second, .after = *now});
    return !same || now->ctime_ns < since_ns;
  });
}

/// Keeps what is new, and takes it over into what is known.
Status Checkpoints::Apply(const std::string& project, Seen& seen, const CancelToken& cancel) {
  std::vector<ToKeep> files;
  for (SeenChange& change : seen.changes) {
    if (!change.after || change.after->kind == ManifestKind::kFolder) continue;
    if (change.after->kind == ManifestKind::kLink) {
      // One that vanished meanwhile is seen by the next look.
      if (const auto now = EntryNow(project, change.path); now && now->kind == ManifestKind::kLink)
        change.after->target = now->target;
    } else {
      files.push_back({.path = change.path, .entry = &*change.after});
    }
  }
  files = git_.Keep(project, std::move(files));
  if (!scan_) files = AdoptKnown(project, std::move(files));
  RETURN_IF_ERROR(KeepContents(project, copies_, std::move(files), setup_.limits, cancel));
  CopyWhatGitHad(project, seen.changes);
  std::erase_if(seen.changes,
                [](const SeenChange& change) { return change.before == change.after; });
  DropLost(seen);
  for (const SeenChange& change : seen.changes) {
    changed_.insert(change.path);
    uncovered_.erase(change.path);
    if (!change.after) {
      entries_.erase(change.path);
      continue;
    }
    if (change.after->kind == ManifestKind::kFile && change.after->kept.in == Kept::In::kNowhere)
      uncovered_.insert(change.path);
    entries_.insert_or_assign(change.path, *change.after);
  }
  return {};
}

/// A repository need not have for long what is in no file any more: it is copied when it goes.
void Checkpoints::CopyWhatGitHad(const std::string& project,
                                 const std::vector<SeenChange>& changes) {
  std::vector<GitContent> gone;
  for (const SeenChange& change : changes) {
    if (!change.before || change.before->kept.in != Kept::In::kGit) continue;
    if (change.after && change.after->kept == change.before->kept) continue;
    gone.push_back({.path = change.path, .id = change.before->kept.id});
  }
  // Ignoring errors on purpose: what cannot be read, or kept, is said when it is to be put back.
  git_.Read(project, gone, [&](const std::string& id, std::string_view bytes) {
    (void)copies_.KeepAsGit(id, bytes);
  });
}

void Checkpoints::NoteFresh(const std::vector<SeenChange>& changes, std::uint64_t since_ns) {
  for (const SeenChange& change : changes) {
    if (change.after && change.after->kind == ManifestKind::kFile &&
        change.after->ctime_ns >= since_ns)
      fresh_.insert(change.path);
  }
}

/// What a command deleted from a repository, and nothing holds: such files are kept nowhere.
void Checkpoints::DropLost(Seen& seen) {
  const std::set<std::string> lost = git_.Lost();
  if (lost.empty()) return;
  const auto drop = [&](const std::string& path, ManifestEntry& entry) {
    if (entry.kept.in != Kept::In::kGit || !lost.contains(entry.kept.id)) return;
    entry.kept = {};
    changed_.insert(path);
    uncovered_.insert(path);
  };
  for (auto& [path, entry] : entries_) drop(path, entry);
  for (SeenChange& change : seen.changes) {
    if (change.after) drop(change.path, *change.after);
  }
}

std::map<std::string, std::string> Checkpoints::NamesOfGit(const std::string& project,
                                                           const std::vector<GitContent>& wanted,
                                                           bool copy) {
  std::map<std::string, std::string> names;
  const auto take = [&](const std::string& id, std::string_view bytes) {
    const Result<std::string> name =
        copy ? copies_.Keep(bytes) : Result<std::string>(Sha256Hex(bytes));
    if (name) names[id] = *name;
  };
  std::vector<GitContent> rest;
  for (const GitContent& one : wanted) {
    if (const auto kept = copies_.ReadGit(one.id))
      take(one.id, *kept);
    else
      rest.push_back(one);
  }
  git_.Read(project, rest, take);
  return names;
}

Status Checkpoints::FindLast() {
  if (std::exchange(opened_, true) || !keeps() || !setup_.last) return {};
  ASSIGN_OR_RETURN(last_, setup_.last());
  return {};
}

/// What the session's last checkpoint said, the first time.
void Checkpoints::Open(const std::string& project) {
  std::optional<std::string> last = std::exchange(last_, std::nullopt);
  if (!last) return;
  // One that cannot be read any more is as none: everything is kept anew.
  Result<ManifestEntries> entries = Read(copies_, *last);
  if (!entries) return;
  entries_ = *std::move(entries);
  manifest_ = std::move(last);
  differences_ = kMaxDifferences;
  HoldAgain(project);
  for (const auto& [path, entry] : entries_) {
    if (entry.kind == ManifestKind::kFile && entry.kept.in == Kept::In::kNowhere)
      uncovered_.insert(path);
  }
}

/// An earlier process held what repositories have of these. What is not there as it was any more is
/// to be had from a repository, or not.
void Checkpoints::HoldAgain(const std::string& project) {
  std::vector<ToKeep> files;
  std::map<std::string, Kept> before;
  for (auto& [path, entry] : entries_) {
    if (entry.kept.in != Kept::In::kGit) continue;
    before[path] = std::exchange(entry.kept, {});
    files.push_back({.path = path, .entry = &entry});
  }
  for (const ToKeep& left : git_.Keep(project, std::move(files)))
    left.entry->kept = before[left.path];
}

protocol::Checkpoint Checkpoints::EventOf(std::string_view reason) const {
  protocol::Checkpoint event;
  event.manifest = manifest_.value_or("");
  event.reason = reason;
  event.files = static_cast<std::int64_t>(entries_.size());
  if (!uncovered_.empty()) event.not_covered = static_cast<std::int64_t>(uncovered_.size());
  if (scan_->capped) event.more = true;
  return event;
}

Result<Checkpoints::Taken> Checkpoints::TakeInThread(ProjectView& view, std::string_view reason,
                                                     const CancelToken& cancel) {
  Taken taken;
  ASSIGN_OR_RETURN(taken.seen, LookInThread(view, cancel));
  const std::lock_guard lock(mutex_);
  git_.HoldOn(view.root());
  if (!manifest_ || !changed_.empty()) {
    ASSIGN_OR_RETURN(const std::string name, WriteManifest());
    if (differences_ == 0) LeaveKnown(view.root());
    RETURN_IF_ERROR(copies_.Sync());
    manifest_ = name;
    changed_.clear();
  }
  taken.event = EventOf(reason);
  return taken;
}

/// For sessions to come. Ignoring the error on purpose: they find it out for themselves.
void Checkpoints::LeaveKnown(const std::string& project) const {
  ManifestText text;
  for (const auto& [path, entry] : entries_) {
    if (entry.kept.in == Kept::In::kCopies && !fresh_.contains(path))
      text.entries.insert({path, entry});
  }
  if (!text.entries.empty())
    (void)ReplaceFile(KnownPath(project), EncodeManifest(text), Durable::kNo);
}

Result<std::string> Checkpoints::WriteManifest() {
  const bool whole =
      !manifest_ || differences_ >= kMaxDifferences || changed_.size() * 2 > entries_.size();
  ManifestText text;
  differences_ = whole ? 0 : differences_ + 1;
  if (whole) {
    text.entries = entries_;
    return copies_.Keep(EncodeManifest(text));
  }
  text.base = manifest_;
  for (const std::string& path : changed_) {
    if (const auto entry = entries_.find(path); entry != entries_.end())
      text.entries.insert(*entry);
    else
      text.gone.insert(path);
  }
  return copies_.Keep(EncodeManifest(text));
}

Result<ManifestEntries> Checkpoints::Read(const Copies& copies, const std::string& name) {
  std::vector<ManifestText> texts;
  std::optional<std::string> next = name;
  while (next) {
    if (texts.size() > kMaxDifferences)
      return Fail(Code::kCorrupt, "a manifest has too many differences");
    ASSIGN_OR_RETURN(const std::string text, copies.Read(*next));
    ASSIGN_OR_RETURN(ManifestText parsed, ParseManifest(text));
    next = parsed.base;
    texts.push_back(std::move(parsed));
  }
  ManifestEntries entries = std::move(texts.back().entries);
  texts.pop_back();
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
    for (const std::string& path : text->gone) entries.erase(path);
    for (auto& [path, entry] : text->entries) entries.insert_or_assign(path, std::move(entry));
  }
  return entries;
}

}  // namespace stet::tool
