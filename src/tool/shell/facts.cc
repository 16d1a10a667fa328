#include "tool/shell/facts.h"

#include <algorithm>

#include "base/fs.h"
#include "base/hash.h"
#include "tool/in_thread.h"

namespace stet::tool {

namespace {

using Scan = std::shared_ptr<const ProjectScan>;

Result<Scan> ScanShared(const std::string& root, const CancelToken& cancel) {
  ASSIGN_OR_RETURN(ProjectScan scan, ScanProject(root, {}, cancel));
  return std::make_shared<const ProjectScan>(std::move(scan));
}

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

Result<ShellFacts> Compare(const std::string& root, const Scan& before, const CancelToken& cancel) {
  ShellFacts found;
  ASSIGN_OR_RETURN(found.scan, ScanShared(root, cancel));
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
  return found;
}

}  // namespace

Async<Result<Scan>> LookAtProject(Call& call) {
  auto work = [root = call.workspace.project](const CancelToken& cancel) {
    return ScanShared(root, cancel);
  };
  co_return co_await InThread<Scan>(call.loop, call.cancel, std::move(work));
}

Async<ShellFacts> FactsSince(Scan before, Call& call) {
  if (!before) co_return ShellFacts();
  const CancelToken never;
  auto work = [root = call.workspace.project, before = std::move(before)](
                  const CancelToken& cancel) { return Compare(root, before, cancel); };
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
