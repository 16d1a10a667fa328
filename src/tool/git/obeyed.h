// Obeyed: the places of a repository that git obeys: who writes them decides what git runs. Blocks
// on the disk.
#pragma once

#include <string>
#include <vector>

namespace stet::tool {

/// Of the repository in the folder `git` and of its submodules': hooks and configurations, those of
/// its own also where they do not exist yet. A `git` that is a file only names another folder, and
/// is itself what is obeyed.
std::vector<std::string> ObeyedByGit(const std::string& git);

/// Files that git would obey in these repositories (folders or links called .git) and that are not
/// there: no box can keep a command from making them.
std::vector<std::string> NotYetObeyed(const std::vector<std::string>& repositories);

/// Renames those of the files that are there now, so that git does not see them. Those that were
/// renamed.
std::vector<std::string> SetAside(const std::vector<std::string>& files);

}  // namespace stet::tool
