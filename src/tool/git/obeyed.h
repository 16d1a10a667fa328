// Obeyed: the places of a repository that git obeys: who writes them decides what git runs. Blocks
// on the disk.
#pragma once

#include <string>
#include <vector>

namespace stet::tool {

/// Of the repository in the folder `git` and of its submodules': hooks and configurations, those of
/// its own also where they do not exist yet, what the configurations include, and the folders that
/// they name for hooks. A `git` that is a link (a symlink, or a file that names another folder) is
/// itself obeyed, and so is what is there.
std::vector<std::string> ObeyedByGit(const std::string& git);

/// The repositories (folders or links called .git) of the folders of the project that the path lies
/// in.
std::vector<std::string> RepositoriesAbove(const std::string& path, const std::string& project);

/// Files that git would obey in these repositories and that are not there: no box can keep a
/// command from making them.
std::vector<std::string> NotYetObeyed(const std::vector<std::string>& repositories);

/// Renames those of the files that are there now, so that git does not see them. Those that were
/// renamed.
std::vector<std::string> SetAside(const std::vector<std::string>& files);

/// What the model is told of them.
std::string SetAsideNote(const std::vector<std::string>& files);

}  // namespace stet::tool
