#include "tool/other_names.h"

#include <algorithm>
#include <chrono>

#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/wildcard.h"
#include "tool/paths.h"
#include "tool/walk.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxNamesLooked = 50'000;
constexpr std::chrono::milliseconds kNamesTime{250};

class NameSearch {
 public:
  NameSearch(const std::string& path, const struct stat& file, const Workspace& workspace)
      : path_(path), file_(file), workspace_(workspace), end_(Deadline::After(kNamesTime)) {}

  OtherNames Search() {
    Visit(workspace_.project, 0);
    found_.elsewhere = names_ < file_.st_nlink;
    return std::move(found_);
  }

 private:
  void Visit(const std::string& folder, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries || depth > kMaxWalkDepth) return;
    for (const DirEntry& entry : *entries) {
      if (names_ == file_.st_nlink || ++looked_ > kMaxNamesLooked || end_.Passed()) return;
      const std::string path = folder + "/" + entry.name;
      if (entry.kind == EntryKind::kDir) Visit(path, depth + 1);
      if (entry.kind == EntryKind::kFile) Compare(path, entry.name);
    }
  }

  void Compare(const std::string& path, const std::string& name) {
    struct stat found = {};
    if (::lstat(path.c_str(), &found) != 0 || found.st_ino != file_.st_ino ||
        found.st_dev != file_.st_dev)
      return;
    ++names_;
    if (path == path_) return;  // What this name says of it is judged by itself.
    found_.paths.push_back(path);
    const std::string relative = path.substr(workspace_.project.size() + 1);
    const bool excluded = workspace_.exclude && workspace_.exclude->Covers(relative);
    const bool secret =
        std::ranges::any_of(workspace_.secret_names,
                            [&](const std::string& pattern) { return MatchPart(pattern, name); });
    if (found_.excluded.empty() && (excluded || secret)) found_.excluded = relative;
  }

  const std::string& path_;
  const struct stat& file_;
  const Workspace& workspace_;
  Deadline end_;
  std::size_t looked_ = 0;
  std::uint64_t names_ = 0;
  OtherNames found_;
};

}  // namespace

OtherNames FindOtherNames(const std::string& path, const Workspace& workspace) {
  struct stat file = {};
  if (::lstat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink < 2) return {};
  return NameSearch(path, file, workspace).Search();
}

}  // namespace stet::tool
