#include "tool/shell/facts.h"

#include <algorithm>

#include "base/fs.h"
#include "base/hash.h"
#include "tool/in_thread.h"
#include "tool/project/look.h"

namespace stet::tool {

namespace {

using Scan = std::shared_ptr<const ProjectScan>;

/// Absent for what is too large, or no longer there.
std::optional<std::string> HashOf(const std::string& path) {
  const auto stat = StatFile(path);
  if (!stat || !stat->is_file || stat->size > kMaxHashedBytes) return std::nullopt;
  const auto bytes = ReadFile(path, kMaxHashedBytes);
  if (!bytes) return std::nullopt;
  return Sha256Hex(*bytes);
}

protocol::FileFact Written(std::string path) {
  protocol::FileFact fact;
  fact.op = "outside_write";
  fact.after = HashOf(path);
  fact.path = std::move(path);
  return fact;
}

protocol::FileFact Deleted(std::string path) {
  protocol::FileFact fact;
  fact.op = "delete";
  fact.path = std::move(path);
  return fact;
}

bool IsEmptyFolder(const std::string& path) {
  const auto entries = ListDir(path);
  return entries && entries->empty();
}

Result<ShellFacts> Compare(ProjectView& view, const Scan& before, const CancelToken& cancel) {
  const std::string& root = view.root();
  ShellFacts found;
  ASSIGN_OR_RETURN(found.scan, view.Look(cancel));
  const ScanChanges changes = CompareScans(*before, *found.scan);
  const auto take = [&](const std::vector<std::string>& paths, auto fact) {
    for (const std::string& path : paths) {
      if (found.facts.size() < kMaxShellFacts)
        found.facts.push_back(fact(root + "/" + path));
      else
        ++found.left_out;
    }
  };
  take(changes.written, Written);
  take(changes.deleted, Deleted);
  const std::vector<std::string> guarded = GuardedIn(*before);
  for (std::string& name : GuardedIn(*found.scan)) {
    // Where nothing may be made, an empty folder stands for as long as a command runs.
    if (std::ranges::find(guarded, name) == guarded.end() && !IsEmptyFolder(root + "/" + name))
      found.new_guarded.push_back(std::move(name));
  }
  return found;
}

}  // namespace

Async<ShellFacts> FactsSince(Scan before, Call& call) {
  if (!before) co_return ShellFacts();
  std::shared_ptr<ProjectView> view = ViewOf(call.workspace);
  if (view->Unchanged() == before)
    co_return ShellFacts{.facts = {}, .left_out = 0, .scan = std::move(before)};
  const CancelToken never;
  auto work = [view = std::move(view), before = std::move(before)](const CancelToken& cancel) {
    return Compare(*view, before, cancel);
  };
  Result<ShellFacts> found = co_await InThread<ShellFacts>(call.loop, never, std::move(work));
  if (!found) co_return ShellFacts();
  std::erase_if(found->facts, [&](const protocol::FileFact& fact) {
    const KnownFile* known = call.files.Find(fact.path);
    return known != nullptr && fact.after && known->hash == *fact.after;
  });
  for (protocol::FileFact& fact : found->facts) {
    fact.tool_call_id = call.tool_call_id;
    if (const KnownFile* known = call.files.Find(fact.path)) fact.before = known->hash;
  }
  co_return *std::move(found);
}

}  // namespace stet::tool
