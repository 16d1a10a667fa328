#include "tool/project/look.h"

#include <utility>

#include <fmt/format.h>

#include "base/fs.h"
#include "tool/git/obeyed.h"
#include "tool/in_thread.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

/// What is ignored counts for nothing where there is no repository that ignores it.
bool IsInRepository(std::string folder) {
  while (!Exists(folder + "/.git")) {
    if (folder == "/") return false;
    folder = ParentDir(folder);
  }
  return true;
}

}  // namespace

std::shared_ptr<ProjectView> ViewOf(Workspace& workspace) {
  if (!workspace.view || workspace.view->root() != workspace.project) {
    std::vector<std::string> expendable;
    if (IsInRepository(workspace.project)) expendable = workspace.expendable;
    workspace.view = std::make_shared<ProjectView>(workspace.project, workspace.guarded_names,
                                                   std::move(expendable));
  }
  return workspace.view;
}

Async<Result<std::shared_ptr<const ProjectScan>>> LookAtProject(Workspace& workspace, Loop& loop,
                                                                CancelToken cancel) {
  using Scan = std::shared_ptr<const ProjectScan>;
  std::shared_ptr<ProjectView> view = ViewOf(workspace);
  if (Scan known = view->Unchanged()) co_return known;
  auto work = [view = std::move(view)](const CancelToken& token) { return view->Look(token); };
  co_return co_await InThread<Scan>(loop, std::move(cancel), std::move(work));
}

std::vector<std::string> RepositoriesIn(const Workspace& workspace, const ProjectScan& scan) {
  std::vector<std::string> found;
  for (const std::string& name : GuardedIn(scan)) {
    if (name == ".git" || name.ends_with("/.git")) found.push_back(workspace.project + "/" + name);
  }
  return found;
}

std::string ObeyedLook::Because(const std::string& path) {
  if (!IsInside(path, workspace_.project)) return "";
  if (!known_) {
    const auto scan = workspace_.view ? workspace_.view->Unchanged() : nullptr;
    known_ = scan ? RepositoriesIn(workspace_, *scan) : std::vector<std::string>();
  }
  std::vector<std::string> repositories = RepositoriesAbove(path, workspace_.project);
  repositories.insert(repositories.end(), known_->begin(), known_->end());
  for (const std::string& git : repositories) {
    const auto [places, fresh] = places_.try_emplace(git);
    if (fresh) places->second = ObeyedByGit(git);
    for (const std::string& place : places->second) {
      if (IsInside(path, place)) return fmt::format("{} makes git obey {}", git, place);
    }
  }
  return "";
}

Result<std::vector<std::string>> GuardedPlaces(const Workspace& workspace,
                                               const ProjectScan& scan) {
  std::vector<std::string> places;
  for (const std::string& name : GuardedIn(scan)) {
    std::string path = workspace.project + "/" + name;
    if (name == ".git" || name.ends_with("/.git")) {
      for (std::string& obeyed : ObeyedByGit(path)) places.push_back(std::move(obeyed));
    } else {
      places.push_back(std::move(path));
    }
    if (places.size() > kMaxGuardedPlaces)
      return Fail(Code::kFull,
                  fmt::format("the project has more than {} places that must not be changed",
                              kMaxGuardedPlaces));
  }
  return places;
}

}  // namespace stet::tool
