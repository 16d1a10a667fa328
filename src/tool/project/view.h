// ProjectView: how the files of a project look now, kept up to date by a watch on its folders, so
// that looking again costs what changed and not what there is. Where the system does not watch
// every folder, each look is a walk.
//
// Safe from any thread, one at a time. Costs nothing while nobody looks: the kernel keeps the
// changes until then.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/folder_watch.h"
#include "base/result.h"
#include "tool/project/scan.h"

namespace stet::tool {

class ProjectView {
 public:
  using Scan = std::shared_ptr<const ProjectScan>;

  /// `guarded` and `expendable` as ScanWish has them.
  ProjectView(std::string root, std::vector<std::string> guarded,
              std::vector<std::string> expendable = {}, ScanLimits limits = {});

  [[nodiscard]] const std::string& root() const { return wish_.root; }

  /// What the last look saw, when that is how it is now. Null when it must be looked at, or
  /// somebody else is at it. Does not block on the disk.
  Scan Unchanged();

  /// Blocks on the disk: for threads. kCancelled when the token is.
  Result<Scan> Look(const CancelToken& cancel);

  /// Whether the next look costs only what changed.
  [[nodiscard]] bool is_watched();

 private:
  Result<Scan> LookAnew(const CancelToken& cancel);
  void TakeChanges();

  std::mutex mutex_;
  ScanWish wish_;
  std::optional<FolderWatch> watch_;
  FolderWatch::Changes changes_;  // Since scan_.
  Scan scan_;                     // Null: it is not known which.
};

}  // namespace stet::tool
