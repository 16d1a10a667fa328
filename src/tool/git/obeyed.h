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

}  // namespace stet::tool
