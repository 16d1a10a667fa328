// The judgement of mode `auto` on a shell command: allowed, or asked and why. Pure.
//
// Allowed are reading, changes in the project that can be undone, builds and tests of the project,
// and fetching what it depends on; in a sandbox also what is not known, as long as it destroys
// nothing. Asked is whatever may lose work for good, send something away, act as another user,
// write outside the project, or was written to hide what it runs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/shell.h"

namespace stet::policy {

/// No box fits that: its configuration says what git runs.
inline constexpr std::string_view kSetsGit = "git writes its configuration";

struct AutoAnswer {
  bool allowed = false;
  std::string why;  // Why it is asked.
  friend bool operator==(const AutoAnswer&, const AutoAnswer&) = default;
};

/// Whether nothing is lost when all at this path is deleted: there is nothing, or it can be
/// restored.
using IsRestorable = std::function<bool(const std::string& path)>;

/// `roots` are the real paths of the folders that count as the project's. Without `restorable` only
/// what builds make, by its name, and temporary files may be deleted or overwritten unasked.
AutoAnswer AutoVerdict(const ShellAnalysis& analysis, bool sandboxed,
                       std::span<const std::string> roots,
                       const IsRestorable& restorable = nullptr);

/// Names of folders that builds and tests make again.
std::vector<std::string> DerivedFolders();

/// Whether a path is by its name something that a build or a test makes again.
bool IsDerived(std::string_view path, std::string_view root);

}  // namespace stet::policy
