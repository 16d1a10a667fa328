#include "tool/git/index_folders.h"

#include <algorithm>
#include <string_view>

#include "base/fs.h"
#include "tool/git/index.h"
#include "tool/git/repository.h"

namespace stet::tool {
namespace {

void AddFolders(std::string_view path, const std::vector<std::string>& names,
                std::set<std::string>& folders) {
  std::size_t begin = 0;
  for (std::size_t end; (end = path.find('/', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string_view name = path.substr(begin, end - begin);
    if (std::ranges::find(names, name) != names.end()) folders.emplace(path.substr(0, end));
  }
}

}  // namespace

std::set<std::string> TrackedFolders(const std::string& project,
                                     const std::vector<std::string>& names) {
  std::set<std::string> folders;
  std::string top = project;
  while (!Exists(top + "/.git")) {
    if (top.size() <= 1) return folders;
    top = ParentDir(top);
  }
  const auto repository = OpenGitRepository(top, Environment::OfProcess());
  if (!repository) return folders;
  const Result<GitIndex> index = GitIndex::Read(repository->git, repository->format);
  if (!index) return folders;
  const std::string below = top == project ? "" : project.substr(top.size() + 1) + "/";
  for (const GitIndexEntry& entry : index->entries()) {
    if (std::string_view(entry.path).starts_with(below))
      AddFolders(std::string_view(entry.path).substr(below.size()), names, folders);
  }
  return folders;
}

}  // namespace stet::tool
