#include "tool/git/restorable.h"

#include <algorithm>
#include <filesystem>

#include <sys/stat.h>

#include "base/fs.h"
#include "tool/paths.h"

namespace stet::tool {
namespace {

constexpr int kMaxRestorableDepth = 100;

class RestorableWalk {
 public:
  RestorableWalk(const TrackedFiles& files, const std::string& root) : files_(files), root_(root) {}

  /// `path` is relative to the root.
  bool HasAll(const std::string& path, int depth) {
    struct stat now{};
    if (::lstat((root_ + "/" + path).c_str(), &now) != 0) return false;
    if (S_ISLNK(now.st_mode)) {
      std::error_code error;
      const auto target = std::filesystem::read_symlink(root_ + "/" + path, error);
      return !error && ++seen_ <= kMaxRestorableFiles && files_.HasLink(path, target.native());
    }
    if (!S_ISDIR(now.st_mode))
      return ++seen_ <= kMaxRestorableFiles && files_.ObjectOf(path, now, budget_).has_value();
    const Result<std::vector<DirEntry>> entries = ListDir(root_ + "/" + path);
    if (!entries || depth > kMaxRestorableDepth) return false;
    return std::ranges::all_of(*entries, [&](const DirEntry& entry) {
      return entry.name != ".git" && HasAll(path + "/" + entry.name, depth + 1);
    });
  }

 private:
  const TrackedFiles& files_;
  const std::string& root_;
  HashBudget budget_;
  std::size_t seen_ = 0;
};

}  // namespace

bool IsRestorable(const TrackedFiles& files, const std::string& root, const std::string& path) {
  struct stat now{};
  if (::lstat(path.c_str(), &now) != 0) return true;
  if (root.empty() || path == root || !IsInside(path, root)) return false;
  return RestorableWalk(files, root).HasAll(path.substr(root == "/" ? 1 : root.size() + 1), 0);
}

}  // namespace stet::tool
