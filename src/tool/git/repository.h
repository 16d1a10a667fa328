// GitRepository: where a repository keeps what stet reads of it, found without running git: its own
// folder, that of all its worktrees, its objects and those that it borrows, and the files with
// attributes that it names.
//
// Only files are read; nothing that they name is run. Untrusted: a repository that makes no sense,
// or that has an extension which is not known here, is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "tool/git/blob_id.h"

namespace stet::tool {

struct GitRepository {
  std::string root;    // Where its files are.
  std::string git;     // Of this worktree alone: the index.
  std::string common;  // Of all its worktrees: configuration and objects.
  GitFormat format = GitFormat::kSha1;
  bool ignore_case = false;
  std::vector<std::string> objects;  // Folders of objects: its own first, then those it borrows.
  /// Files with attributes beyond its own that may count, each with the one above it in precedence
  /// before it: those that a configuration names.
  std::vector<std::string> attributes;
  /// What was read to know this: when one of them changes, it may be otherwise.
  std::vector<std::string> read;
};

/// The repository whose files begin at `root`, a real path, by the `.git` there. `environment` says
/// where the configuration of the user is.
std::optional<GitRepository> OpenGitRepository(const std::string& root,
                                               const Environment& environment);

}  // namespace stet::tool
