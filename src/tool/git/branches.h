// Branches: whose branch a name is, read from git's files. Git is not run. Blocks on the disk.
#pragma once

#include <string>

namespace stet::tool {

/// Whether, in the repository that git would use in `folder`, a branch that is started from `name`
/// follows one of another repository ("origin/main"), or the name alone makes git start one
/// (`git switch topic` where only origin has a topic). True where that cannot be told.
bool IsOthersBranch(const std::string& folder, const std::string& name);

}  // namespace stet::tool
