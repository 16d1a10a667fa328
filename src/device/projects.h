// Projects: the folders that this device knows as projects, by their canonical path. Registering
// one twice is the same as once; removing one touches nothing in it. Any thread, any process.
#pragma once

#include <string>

#include "base/result.h"
#include "config/roots.h"
#include "protocol/wire.h"

namespace stet::device {

/// The folder's canonical path. kInvalid unless it is named by its whole path, kNotFound when there
/// is none.
Result<std::string> FolderAt(const std::string& path);

class Projects {
 public:
  explicit Projects(const config::Roots& roots) : roots_(roots) {}

  [[nodiscard]] Result<protocol::Projects> List() const;
  /// kNotFound when there is no such folder.
  Result<protocol::Project> Register(const std::string& path);
  Status Remove(const std::string& project_id);

  /// Whether the folder is one of a project. kInvalid, kNotFound.
  [[nodiscard]] Result<bool> Contains(const std::string& path) const;

  /// The folders in a folder: the user's home when `path` is empty. kDenied outside of the home and
  /// of the projects.
  [[nodiscard]] Result<protocol::Browsed> Browse(const std::string& path) const;

 private:
  const config::Roots& roots_;
};

}  // namespace stet::device
