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

inline constexpr std::uint64_t kMaxLfsPointer = 1024;

struct GitRepository {
  std::string root;    // Where its files are.
  std::string git;     // Of this worktree alone: the index.
  std::string common;  // Of all its worktrees: configuration and objects.
  GitFormat format = GitFormat::kSha1;
  bool ignore_case = false;
  std::vector<std::string> objects;  // Folders of objects: its own first, then those it borrows.
  /// The user's files with attributes, as far as configurations name them: one of these counts.
  std::vector<std::string> attributes;
  /// Which one counts cannot be told, or where it is.
  bool unsure = false;
  /// Whether filters are configured, for any attribute: none; that of git-lfs, whose objects have
  /// less than kMaxLfsPointer bytes; others.
  enum class Filters { kNone, kLfs, kOthers };
  Filters filters = Filters::kNone;
  /// What was read to know this: when one of them changes, it may be otherwise.
  std::vector<std::string> read;
};

/// The repository whose files begin at `root`, a real path, by the `.git` there. `environment` says
/// where the configuration of the user is. None when it belongs to neither us, the system, nor
/// whom the files belong to: its index would say whatever that other person likes.
std::optional<GitRepository> OpenGitRepository(const std::string& root,
                                               const Environment& environment);

}  // namespace stet::tool
