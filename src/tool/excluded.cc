#include "tool/excluded.h"

#include "base/clock.h"
#include "base/fs.h"
#include "tool/walk.h"

namespace stet::tool {
namespace {

class Searcher {
 public:
  Searcher(const IgnoreFile& exclude, const ExcludedLimits& limits)
      : exclude_(exclude), limits_(limits), end_(Deadline::After(limits.time)) {}

  ExcludedPaths Search(const std::string& project) {
    Walk(project == "/" ? "" : project, 0);
    return std::move(found_);
  }

 private:
  void Walk(const std::string& folder, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder.empty() ? "/" : folder);
    // A folder that cannot be listed counts as excluded, since what is in it is not known.
    if (!entries) return Add(folder);
    if (depth > kMaxWalkDepth || end_.Passed()) return GiveUp();
    for (const DirEntry& entry : *entries) {
      if (!found_.all) return;
      if (++looked_ > limits_.entries) return GiveUp();
      if (entry.kind == EntryKind::kSymlink || entry.name == ".git") continue;
      parts_.push_back(entry.name);
      Visit(entry, folder + "/" + entry.name, depth);
      parts_.pop_back();
    }
  }

  void Visit(const DirEntry& entry, const std::string& path, int depth) {
    const std::vector<std::string_view> parts(parts_.begin(), parts_.end());
    const bool is_dir = entry.kind == EntryKind::kDir;
    // As policy has it: a pattern for folders covers a file of that name as well.
    if (exclude_.Judge(parts, true) == IgnoreFile::Verdict::kIgnored ||
        (!is_dir && exclude_.Judge(parts, false) == IgnoreFile::Verdict::kIgnored))
      Add(path);
    else if (is_dir)
      Walk(path, depth + 1);
  }

  void Add(const std::string& path) {
    if (found_.paths.size() == limits_.paths) return GiveUp();
    found_.paths.push_back(path);
  }

  void GiveUp() { found_.all = false; }

  const IgnoreFile& exclude_;
  ExcludedLimits limits_;
  Deadline end_;
  std::size_t looked_ = 0;
  std::vector<std::string> parts_;
  ExcludedPaths found_;
};

}  // namespace

ExcludedPaths FindExcluded(const std::string& project, const IgnoreFile& exclude,
                           const ExcludedLimits& limits) {
  if (exclude.empty()) return {};
  return Searcher(exclude, limits).Search(project);
}

}  // namespace stet::tool
