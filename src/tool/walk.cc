#include "tool/walk.h"

#include <algorithm>
#include <vector>

#include "base/fs.h"
#include "base/ignore.h"
#include "base/wildcard.h"
#include "tool/ignore_rules.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

class Walker {
 public:
  Walker(const WalkRoot& root, const CancelToken& cancel, const UseFile& use)
      : cancel_(cancel),
        even_ignored_(root.even_ignored),
        exclude_(IsInside(root.folder, root.project) ? root.exclude : nullptr),
        use_(use) {}

  /// Rules of the folders above the one that is walked.
  void AddRulesAbove(const std::string& folder, const std::string& project) {
    if (!IsInside(folder, project)) return;
    std::string at = project;
    std::string rest = folder.substr(std::min(project.size(), folder.size()));
    for (const std::string_view part : PathParts(rest)) {
      (void)rules_.Enter(at, parts_.size());
      parts_.emplace_back(part);
      (at += '/') += part;
    }
  }

  Status Walk(const std::string& folder, const std::string& shown, int depth) {
    if (cancel_.cancelled()) return Fail(Code::kCancelled, "cancelled");
    const auto entries = ListDir(folder);
    if (!entries) return {};
    const std::size_t mark = rules_.Enter(folder, parts_.size());
    for (const DirEntry& entry : *entries) {
      if (stopped_) break;
      RETURN_IF_ERROR(Visit(entry, folder, shown, depth));
    }
    rules_.Leave(mark);
    return {};
  }

 private:
  Status Visit(const DirEntry& entry, const std::string& folder, const std::string& shown,
               int depth) {
    const bool is_dir = entry.kind == EntryKind::kDir;
    if (entry.name == ".git" || entry.kind == EntryKind::kOther) return {};
    parts_.push_back(entry.name);
    Status status;
    const std::string path = shown.empty() ? entry.name : shown + "/" + entry.name;
    const bool wanted = !is_dir && even_ignored_ != nullptr && even_ignored_->Matches(path);
    if (!IsExcluded(is_dir) && (wanted || !rules_.Ignores(parts_, is_dir))) {
      if (!is_dir)
        UseFileAt(folder + "/" + entry.name, path, entry.kind == EntryKind::kSymlink);
      else if (depth < kMaxWalkDepth)
        status = Walk(folder + "/" + entry.name, path, depth + 1);
    }
    parts_.pop_back();
    return status;
  }

  void UseFileAt(const std::string& real, const std::string& path, bool is_link) {
    if (is_link) {
      const auto target = StatFile(real);
      if (!target || !target->is_file) return;
    }
    stopped_ = !use_(path, is_link);
  }

  [[nodiscard]] bool IsExcluded(bool is_dir) const {
    if (exclude_ == nullptr) return false;
    const std::vector<std::string_view> path(parts_.begin(), parts_.end());
    return exclude_->Judge(path, is_dir) == IgnoreFile::Verdict::kIgnored;
  }

  const CancelToken& cancel_;
  const Glob* even_ignored_;
  const IgnoreFile* exclude_;
  const UseFile& use_;
  std::vector<std::string> parts_;  // From the project, or the folder when it is outside.
  IgnoreRules rules_;
  bool stopped_ = false;
};

}  // namespace

Status WalkFiles(const WalkRoot& root, const CancelToken& cancel, const UseFile& use) {
  Walker walker(root, cancel, use);
  walker.AddRulesAbove(root.folder, root.project);
  return walker.Walk(root.folder == "/" ? "" : root.folder, "", 0);
}

}  // namespace stet::tool
