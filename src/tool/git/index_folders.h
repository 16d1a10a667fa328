// Folders of a project that its repository has files in: git ignores nothing that it tracks.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace stet::tool {

/// Those with one of these names, relative to the project, which the repository may begin above.
/// Empty where there is none, or it makes no sense. Blocks on the disk.
std::set<std::string> TrackedFolders(const std::string& project,
                                     const std::vector<std::string>& names);

}  // namespace stet::tool
