#include "tool/git/obeyed.h"

#include <cstddef>

#include "base/fs.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxObeyedRepositories = 200;
constexpr int kMaxObeyedDepth = 16;  // The names of submodules have slashes.

class ObeyedCollector {
 public:
  std::vector<std::string> Collect(const std::string& git) {
    Repository(git);
    return std::move(places_);
  }

 private:
  void Repository(const std::string& git) {
    if (++repositories_ > kMaxObeyedRepositories) return;
    places_.push_back(git + "/hooks");
    places_.push_back(git + "/config");
    for (const char* name : {"/config.worktree", "/info/attributes", "/commondir"}) {
      if (Exists(git + name)) places_.push_back(git + name);
    }
    Modules(git + "/modules", 0);
  }

  void Modules(const std::string& folder, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries || depth > kMaxObeyedDepth) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      if (entry.kind != EntryKind::kDir) continue;
      if (Exists(path + "/HEAD"))
        Repository(path);
      else
        Modules(path, depth + 1);
    }
  }

  std::vector<std::string> places_;
  std::size_t repositories_ = 0;
};

}  // namespace

std::vector<std::string> ObeyedByGit(const std::string& git) {
  const Result<EntryKind> kind = KindOf(git);
  if (!kind) return {};
  if (*kind != EntryKind::kDir) return {git};
  return ObeyedCollector().Collect(git);
}

}  // namespace stet::tool
