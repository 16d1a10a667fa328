#include "tool/shell/facts.h"

#include <algorithm>
#include <utility>

#include "base/fs.h"
#include "base/hash.h"
#include "tool/project/look.h"

namespace stet::tool {

namespace {

/// Larger files get no hash where no copy has given them one.
constexpr std::uint64_t kMaxHashedBytes = std::uint64_t{4} << 20;

/// What is there now, as facts say it; absent when that is not known.
std::optional<std::string> IdNow(const std::string& path, const ManifestEntry& entry) {
  if (entry.kind != ManifestKind::kFile || entry.kept.in == Kept::In::kCopies)
    return FactIdOf(entry);
  if (entry.size > kMaxHashedBytes) return std::nullopt;
  const auto bytes = ReadFile(path, kMaxHashedBytes);
  if (!bytes) return std::nullopt;
  return Sha256Hex(*bytes);
}

/// What is a folder on one side and a file on the other is told of twice.
void AddFacts(const std::string& path, const SeenChange& change,
              std::vector<protocol::FileFact>& facts) {
  if (IsFolder(change.before) || IsFolder(change.after)) {
    protocol::FileFact& fact = facts.emplace_back();
    fact.op = "folder";
    fact.path = path;
    if (IsFolder(change.before)) fact.before = FactIdOf(*change.before);
    if (IsFolder(change.after)) fact.after = FactIdOf(*change.after);
  }
  const bool was_file = change.before && !IsFolder(change.before);
  const bool is_file = change.after && !IsFolder(change.after);
  if (!was_file && !is_file) return;
  protocol::FileFact& fact = facts.emplace_back();
  fact.op = is_file ? "outside_write" : "delete";
  fact.path = path;
  if (was_file) fact.before = FactIdOf(*change.before);
  if (is_file) fact.after = IdNow(path, *change.after);
  const bool touched = was_file && is_file && fact.before && fact.before == fact.after &&
                       change.before->mode == change.after->mode;
  if (touched) facts.pop_back();
}

bool IsEmptyFolder(const std::string& path) {
  const auto entries = ListDir(path);
  return entries && entries->empty();
}

std::vector<std::string> NewGuarded(const std::string& root, const ProjectScan& before,
                                    const ProjectScan& after) {
  std::vector<std::string> made;
  const std::vector<std::string> guarded = GuardedIn(before);
  for (std::string& name : GuardedIn(after)) {
    // Where nothing may be made, an empty folder stands for as long as a command runs.
    if (std::ranges::find(guarded, name) == guarded.end() && !IsEmptyFolder(root + "/" + name))
      made.push_back(std::move(name));
  }
  return made;
}

}  // namespace

std::vector<protocol::FileFact> FactsOf(const std::string& project,
                                        const std::vector<SeenChange>& changes,
                                        const KnownFiles& files, const std::string& call_id) {
  std::vector<protocol::FileFact> facts;
  for (const SeenChange& change : changes) AddFacts(project + "/" + change.path, change, facts);
  for (protocol::FileFact& fact : facts) {
    fact.tool_call_id = call_id;
    if (fact.before || fact.op == "folder") continue;
    if (const KnownFile* known = files.Find(fact.path)) fact.before = known->hash;
  }
  return facts;
}

std::vector<protocol::FileFact> FactsOfTask(const std::string& project, const Seen& seen,
                                            const KnownFiles& files) {
  if (seen.task_call.empty()) return {};
  std::vector<protocol::FileFact> facts = FactsOf(project, seen.changes, files, seen.task_call);
  for (protocol::FileFact& fact : facts) {
    if (seen.unsure) fact.unsure = true;
  }
  std::erase_if(facts, [&](const protocol::FileFact& fact) {
    const KnownFile* known = files.Find(fact.path);
    return known != nullptr && fact.after && known->hash == *fact.after;
  });
  return facts;
}

Async<ShellFacts> FactsSince(std::shared_ptr<const ProjectScan> before, Call& call) {
  if (!before) co_return ShellFacts();
  std::shared_ptr<ProjectView> view = ViewOf(call.workspace);
  const std::string root = view->root();
  const CancelToken never;
  Result<Seen> seen = co_await call.checkpoints.Look(std::move(view), call.loop, never, before);
  if (!seen) co_return ShellFacts();
  ShellFacts found{.facts = FactsOf(root, seen->changes, call.files, call.tool_call_id)};
  if (seen->scan != before) found.new_guarded = NewGuarded(root, *before, *seen->scan);
  found.scan = std::move(seen->scan);
  co_return found;
}

}  // namespace stet::tool
