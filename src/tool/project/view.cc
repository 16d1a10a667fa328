#include "tool/project/view.h"

#include <utility>

#include "tool/git/index_folders.h"

namespace stet::tool {

ProjectView::ProjectView(std::string root, std::vector<std::string> guarded,
                         std::vector<std::string> expendable, ScanLimits limits)
    : wish_{.root = std::move(root),
            .limits = limits,
            .guarded = std::move(guarded),
            .expendable = std::move(expendable)} {}

void ProjectView::TakeChanges() {
  FolderWatch::Changes more = watch_->Take();
  changes_.lost = changes_.lost || more.lost;
  changes_.folders.merge(more.folders);
  changes_.renewed.merge(more.renewed);
}

ProjectView::Scan ProjectView::Unchanged() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !scan_ || scan_->top->links_below) return nullptr;
  TakeChanges();
  return changes_.empty() ? scan_ : nullptr;
}

bool ProjectView::is_watched() {
  const std::lock_guard lock(mutex_);
  return scan_ != nullptr;
}

Result<ProjectView::Scan> ProjectView::LookAnew(const CancelToken& cancel) {
  scan_ = nullptr;
  changes_ = {};
  wish_.watch = &watch_.emplace();
  if (!wish_.expendable.empty()) wish_.tracked = TrackedFolders(wish_.root, wish_.expendable);
  ASSIGN_OR_RETURN(ProjectScan scan, ScanProject(wish_, cancel));
  auto made = std::make_shared<const ProjectScan>(std::move(scan));
  // Of what was cut nothing is known behind its end, and it cannot be said what a change there
  // means.
  if (watch_->in_force() && !made->capped && wish_.root != "/") scan_ = made;
  return made;
}

Result<ProjectView::Scan> ProjectView::Look(const CancelToken& cancel) {
  const std::lock_guard lock(mutex_);
  if (!scan_) return LookAnew(cancel);
  TakeChanges();
  if (changes_.lost) return LookAnew(cancel);
  if (changes_.empty() && !scan_->top->links_below) return scan_;
  Result<ProjectScan> scan = ScanAgain(wish_, *scan_, changes_, cancel);
  // Watches may be gone for what was not looked at to the end.
  if (!scan) {
    scan_ = nullptr;
    return std::unexpected(scan.error());
  }
  if (scan->capped || scan->new_names || !watch_->in_force()) return LookAnew(cancel);
  changes_ = {};
  scan_ = std::make_shared<const ProjectScan>(*std::move(scan));
  return scan_;
}

}  // namespace stet::tool
