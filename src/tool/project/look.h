// Looking at the project of a session, on its loop.
#pragma once

#include <memory>
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

/// The repositories in the project, its own first: absolute.
std::vector<std::string> RepositoriesIn(const Workspace& workspace, const ProjectScan& scan);

}  // namespace stet::tool
