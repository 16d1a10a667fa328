#include "lane/restore.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/settings.h"
#include "agent/workbench.h"
#include "base/beneath.h"
#include "base/hash.h"
#include "lane/file_history.h"
#include "tool/checkpoint/plan.h"
#include "tool/checkpoint/put_back.h"
#include "tool/in_thread.h"
#include "tool/other_names.h"
#include "tool/project/look.h"
#include "tool/shell/facts.h"

namespace stet::lane {
namespace {

using tool::ManifestEntries;

/// A folder in which files may be put back, and the lines for it.
struct Place {
  std::string root;
  std::vector<tool::UndoLine> lines;
};

/// Reads and compares; blocks on the disk. Refers to what outlives it.
class Planning {
 public:
  Planning(const FileHistory& since, tool::Checkpoints& checkpoints, log::Blobs& blobs)
      : since_(since), checkpoints_(checkpoints), blobs_(blobs) {}

  Result<Place> OfProject(const std::string& project) {
    if (!checkpoints_.keeps()) return ByFacts(project, {});
    ManifestEntries at = checkpoints_.entries();
    if (since_.at) {
      ASSIGN_OR_RETURN(at, tool::Checkpoints::Read(checkpoints_.copies(), *since_.at));
    }
    ReadNames(project, at);
    std::optional<ManifestEntries> before;
    if (since_.before) {
      // Without it, modes of files that tools changed are those of now.
      if (auto read = tool::Checkpoints::Read(checkpoints_.copies(), *since_.before))
        before = *std::move(read);
    }
    return Plan(project, at, checkpoints_.entries(), before ? &*before : nullptr,
                since_.until_checkpoint);
  }

  /// Of a folder of which there are no checkpoints: what facts say alone, but for what lies in
  /// `without`, which has its own.
  Result<Place> ByFacts(const std::string& root, const std::string& without) {
    ManifestEntries now;
    for (const protocol::FileFact& fact : since_.facts) {
      const bool inside = fact.path.starts_with(root + "/");
      if (!inside || (!without.empty() && fact.path.starts_with(without + "/"))) continue;
      const std::string path = fact.path.substr(root.size() + 1);
      if (auto entry = EntryOf(root, path)) now.insert_or_assign(path, *std::move(entry));
    }
    return Plan(root, now, now, nullptr, since_.facts.size());
  }

  /// Of what a repository has, a copy was made before (CopyFromGit).
  Result<std::string> Content(const tool::Kept& kept) {
    const auto copied = copied_.find(kept.id);
    const std::string& name = copied != copied_.end() ? copied->second : kept.id;
    Result<std::string> copy = checkpoints_.copies().Read(name);
    if (copy) return copy;
    return blobs_.Get(name);
  }

  /// What of these lines only a repository has: all at once, which is one start of git.
  void CopyFromGit(const Place& place) {
    std::vector<tool::GitContent> wanted;
    for (const tool::UndoLine& line : place.lines) {
      if (line.wanted && line.wanted->kept.in == tool::Kept::In::kGit)
        wanted.push_back({.path = line.path, .id = line.wanted->kept.id});
    }
    if (wanted.empty()) return;
    copied_.merge(checkpoints_.NamesOfGit(place.root, wanted, true));
  }

 private:
  std::optional<tool::ManifestEntry> EntryOf(const std::string& root, const std::string& path) {
    Result<tool::ManifestEntry> entry = tool::EntryNow(root, path);
    if (!entry) return std::nullopt;
    if (entry->kind != tool::ManifestKind::kFile) return *std::move(entry);
    const Result<Beneath> place = Beneath::Open(root, root + "/" + path);
    const auto content = place ? place->Read() : std::unexpected(place.error());
    if (!content) return *std::move(entry);
    // What is there now must be had again as well.
    const auto name = checkpoints_.keeps() ? checkpoints_.copies().Keep(content->bytes)
                                           : blobs_.Put(content->bytes);
    if (name) entry->kept = {.in = tool::Kept::In::kCopies, .id = *name};
    return *std::move(entry);
  }

  /// The hashes of what repositories have, where facts tell of it.
  void ReadNames(const std::string& project, const ManifestEntries& at) {
    std::vector<tool::GitContent> wanted;
    const auto want = [&](const std::string& path, const ManifestEntries& entries) {
      const auto entry = entries.find(path);
      if (entry != entries.end() && entry->second.kept.in == tool::Kept::In::kGit)
        wanted.push_back({.path = path, .id = entry->second.kept.id});
    };
    constexpr std::string_view kGit = "git:";
    for (const protocol::FileFact& fact : since_.facts) {
      if (!fact.path.starts_with(project + "/")) continue;
      const std::string path = fact.path.substr(project.size() + 1);
      want(path, at);
      want(path, checkpoints_.entries());
      for (const auto& id : {fact.before, fact.after}) {
        if (id && id->starts_with(kGit))
          wanted.push_back({.path = path, .id = id->substr(kGit.size())});
      }
    }
    if (!wanted.empty()) names_ = checkpoints_.NamesOfGit(project, wanted, false);
  }

  Result<Place> Plan(const std::string& root, const ManifestEntries& at, const ManifestEntries& now,
                     const ManifestEntries* before, std::size_t until) {
    const tool::UndoInputs inputs{.project = root,
                                  .at = at,
                                  .now = now,
                                  .before = before,
                                  .facts = since_.facts,
                                  .until_checkpoint = until,
                                  .sha256_of_git = [this](const std::string& id) {
                                    const auto name = names_.find(id);
                                    return name != names_.end() ? name->second : std::string();
                                  }};
    return Place{.root = root, .lines = tool::PlanUndo(inputs)};
  }

  const FileHistory& since_;
  tool::Checkpoints& checkpoints_;
  log::Blobs& blobs_;
  std::map<std::string, std::string> names_;   // Of what repositories have, by git's ids.
  std::map<std::string, std::string> copied_;  // The same, of what has a copy.
};

/// What the session, or another, did there.
std::string OpOf(const FileHistory& since, const std::string& path, const tool::UndoLine& line) {
  if (!line.now) return "delete";
  const auto is_it = [&](const protocol::FileFact& fact) { return fact.path == path; };
  const auto last = std::ranges::find_if(since.facts.rbegin(), since.facts.rend(), is_it);
  if (last != since.facts.rend() && last->op != "delete") return last->op;
  return line.now->kind == tool::ManifestKind::kFolder ? "folder" : "outside_write";
}

/// A file with several names is written in place, which changes what is under the others.
bool IsWrittenElsewhere(const agent::Workbench& bench, const std::string& path,
                        const tool::UndoLine& line) {
  if (!line.wanted || !line.now || line.wanted->kind != tool::ManifestKind::kFile ||
      line.now->kind != tool::ManifestKind::kFile || line.wanted->inode != line.now->inode)
    return false;
  return tool::FindOtherNames(path, bench.workspace).elsewhere;
}

protocol::FileRow RowOf(const agent::Workbench& bench, const FileHistory& since, const Place& place,
                        const tool::UndoLine& line, const tool::PutBackWish& wish) {
  protocol::FileRow row;
  row.path = place.root + "/" + line.path;
  row.op = OpOf(since, row.path, line);
  row.undo = !line.wanted ? "delete" : line.now ? "change" : "create";
  row.changed_since = line.unexplained;
  for (const std::string& id : line.call_ids) {
    const auto call = since.calls.find(id);
    row.by.push_back(call != since.calls.end() ? call->second : id);
  }
  const Status can = CanPutBack(wish, line);
  row.can_restore = can.has_value();
  if (!can) {
    row.reason = can.error().Text();
  } else if (IsWrittenElsewhere(bench, row.path, line)) {
    row.changed_since = true;
    row.reason = "it has another name, outside of the project";
  }
  return row;
}

protocol::FileFact FactOf(const std::string& root, const tool::UndoLine& line) {
  const auto is_folder = [](const auto& entry) {
    return entry && entry->kind == tool::ManifestKind::kFolder;
  };
  protocol::FileFact fact;
  fact.op = !line.wanted ? "delete" : "write";
  if (is_folder(line.wanted) || is_folder(line.now)) fact.op = "folder";
  fact.path = root + "/" + line.path;
  if (line.now) fact.before = tool::FactIdOf(*line.now);
  if (line.wanted) fact.after = tool::FactIdOf(*line.wanted);
  // No line of it was shown to the model.
  if (fact.op == "write") fact.coverage = tool::KnownFiles::Coverage({}, -1);
  return fact;
}

/// Facts that another device wrote, which are only shown.
void AddHistory(const FileHistory& since, protocol::FileRows& rows) {
  std::set<std::string> shown;
  for (const protocol::FileRow& row : rows) shown.insert(row.path);
  for (const protocol::FileFact& fact : since.foreign) {
    if (!shown.insert(fact.path).second) continue;
    protocol::FileRow& row = rows.emplace_back();
    row.path = fact.path;
    row.op = fact.op;
    row.reason = "another device wrote this";
  }
}

/// Looks at the project as it is, with a checkpoint of it when something will be put back.
Async<Status> LookNow(agent::Workbench& bench, bool restore) {
  tool::Checkpoints& checkpoints = *bench.checkpoints;
  if (!checkpoints.keeps()) co_return Status();
  const CancelToken never;
  std::vector<log::Draft> drafts;
  tool::Seen seen;
  if (restore) {
    CO_ASSIGN_OR_RETURN(
        tool::Checkpoints::Taken taken,
        co_await checkpoints.Take(tool::ViewOf(bench.workspace), "restore", bench.loop, never));
    seen = std::move(taken.seen);
    drafts.push_back({.payload = std::move(taken.event)});
  } else {
    CO_ASSIGN_OR_RETURN(
        seen, co_await checkpoints.Look(tool::ViewOf(bench.workspace), bench.loop, never));
  }
  const tool::KnownFiles none;
  for (protocol::FileFact& fact :
       tool::FactsOfTask(bench.workspace.project, seen, bench.files ? *bench.files : none))
    drafts.insert(drafts.begin(), {.payload = std::move(fact)});
  if (drafts.empty()) co_return Status();
  const auto appended = bench.log.Append(std::move(drafts));
  co_return appended ? Status() : std::unexpected(appended.error());
}

struct Planned {
  std::vector<Place> places;
  protocol::FileRows rows;  // In the order of the places' lines.
};

/// What is put back in one place.
struct Chosen {
  tool::PutBackWish wish;
  std::vector<std::size_t> rows;  // That tell of its lines.
};

bool IsChosen(const protocol::FilesParams& wanted, const protocol::FileRow& row) {
  const auto named = [&] {
    return wanted.include && std::ranges::find(*wanted.include, row.path) != wanted.include->end();
  };
  return row.can_restore && (!row.changed_since || named());
}

using Content = std::function<Result<std::string>(const tool::Kept&)>;

std::vector<Chosen> Choose(Planned& planned, const protocol::FilesParams& wanted,
                           const Content& content) {
  std::vector<Chosen> chosen;
  std::size_t number = 0;
  for (Place& place : planned.places) {
    Chosen& here = chosen.emplace_back();
    here.wish = {.project = place.root, .content = content};
    for (tool::UndoLine& line : place.lines) {
      const std::size_t row = number++;
      if (!IsChosen(wanted, planned.rows[row])) continue;
      here.rows.push_back(row);
      here.wish.lines.push_back(std::move(line));
    }
  }
  return chosen;
}

/// Announced first, then done, then looked at.
Async<Status> PutBackChosen(agent::Workbench& bench, const std::vector<Chosen>& chosen,
                            protocol::FileRows& rows) {
  std::vector<log::Draft> facts;
  for (const Chosen& here : chosen) {
    for (const tool::UndoLine& line : here.wish.lines)
      facts.push_back({.payload = FactOf(here.wish.project, line)});
  }
  if (facts.empty()) co_return Status();
  const auto appended = bench.log.Append(std::move(facts));
  if (!appended) co_return std::unexpected(appended.error());
  bench.files.reset();  // Of these the model knows nothing any more: read from the log again.
  using Done = std::vector<std::vector<tool::PutBackLine>>;
  const auto put_back = [&](const CancelToken&) -> Result<Done> {
    Done done;
    for (const Chosen& here : chosen) done.push_back(tool::PutBack(here.wish));
    return done;
  };
  const CancelToken never;
  CO_ASSIGN_OR_RETURN(const Done done, co_await tool::InThread<Done>(bench.loop, never, put_back));
  for (std::size_t place = 0; place < done.size(); ++place) {
    for (std::size_t i = 0; i < done[place].size(); ++i) {
      protocol::FileRow& row = rows[chosen[place].rows[i]];
      row.restored = done[place][i].restored;
      if (!row.restored) row.reason = done[place][i].why;
    }
  }
  co_return co_await LookNow(bench, false);
}

}  // namespace

Async<Result<protocol::FileRows>> FilesSince(agent::Workbench& bench,
                                             protocol::FilesParams wanted) {
  log::Ordinal from = 0;
  if (wanted.target) {
    CO_ASSIGN_OR_RETURN(const log::Ordinal event, bench.log.Find(*wanted.target));
    from = event + 1;
  }
  CO_RETURN_IF_ERROR(co_await LookNow(bench, false));
  CO_ASSIGN_OR_RETURN(const FileHistory since, ReadFileHistory(bench.log, from, bench.own.since));
  if (wanted.restore) CO_RETURN_IF_ERROR(co_await LookNow(bench, true));

  Planning planning(since, *bench.checkpoints, bench.log.blobs());
  const Content content = [&](const tool::Kept& kept) { return planning.Content(kept); };
  const std::vector<std::string> roots = bench.settings->rules.more_roots;
  const auto plan = [&](const CancelToken&) -> Result<Planned> {
    Planned planned;
    const std::string& project = bench.workspace.project;
    ASSIGN_OR_RETURN(Place own, planning.OfProject(project));
    planned.places.push_back(std::move(own));
    for (const std::string& root : roots) {
      ASSIGN_OR_RETURN(Place added, planning.ByFacts(root, project));
      planned.places.push_back(std::move(added));
    }
    const tool::PutBackWish wish{.content = content};
    for (const Place& place : planned.places) {
      planning.CopyFromGit(place);
      for (const tool::UndoLine& line : place.lines)
        planned.rows.push_back(RowOf(bench, since, place, line, wish));
    }
    return planned;
  };
  const CancelToken never;
  CO_ASSIGN_OR_RETURN(Planned planned, co_await tool::InThread<Planned>(bench.loop, never, plan));
  if (wanted.restore) {
    const std::vector<Chosen> chosen = Choose(planned, wanted, content);
    CO_RETURN_IF_ERROR(co_await PutBackChosen(bench, chosen, planned.rows));
  }
  AddHistory(since, planned.rows);
  co_return std::move(planned.rows);
}

}  // namespace stet::lane
