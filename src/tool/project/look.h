// Looking at the project of a session, on its loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/loop.h"
#include "tool/project/scan.h"
#include "tool/project/view.h"
#include "tool/tool.h"

namespace stet::tool {

/// The workspace's view, made when it is first asked for. Never null.
std::shared_ptr<ProjectView> ViewOf(Workspace& workspace);

/// The project as it is now, looked at in a thread unless a watch says that nothing has changed;
/// never null. kCancelled when the token is, kUnavailable when there is no thread. The workspace
/// outlives the task.
Async<Result<std::shared_ptr<const ProjectScan>>> LookAtProject(Workspace& workspace, Loop& loop,
                                                                CancelToken cancel);

/// Places that git obeys, and other names of Workspace::guarded_names, as they stand in the
/// project: absolute. kFull when there are more than a box can keep.
Result<std::vector<std::string>> GuardedPlaces(const Workspace& workspace, const ProjectScan& scan);
inline constexpr std::size_t kMaxGuardedPlaces = 500;

/// Looks for those places for one decision: each repository is read once. Blocks on the disk.
class ObeyedLook {
 public:
  /// The workspace outlives it.
  explicit ObeyedLook(const Workspace& workspace) : workspace_(workspace) {}

  /// Why git obeys what is at this path of the project; empty: it does not. Looked at are the
  /// repositories that the path lies in, and those that the last look at the project found.
  std::string Because(const std::string& path);

 private:
  const Workspace& workspace_;
  std::map<std::string, std::vector<std::string>> places_;  // By repository.
  std::optional<std::vector<std::string>> known_;           // Repositories.
};

/// The repositories in the project, its own first: absolute.
std::vector<std::string> RepositoriesIn(const Workspace& workspace, const ProjectScan& scan);

}  // namespace stet::tool
