// HeldObjects: keeps what repositories can give back while a command runs that may delete it.
//
// Packs and loose objects get a second name in a folder of stet's own: hard links, which cost no
// room while the repository has them. Where links are refused (another file system, another owner)
// they are held open, as far as kMaxHeldOpen goes, and copied out when they have vanished. Only the
// bytes of the repository's files stay as they are: the times of their inodes change by a link.
// Not covered: a command that writes into a pack or an object in place, which git never does; of
// packs Release tells.
// Belongs to one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tool/git/objects.h"
#include "tool/git/tracked.h"

namespace stet::tool {

/// Descriptors that one HeldObjects keeps at most.
inline constexpr std::size_t kMaxHeldOpen = 256;

class HeldObjects {
 public:
  /// `folder` is of stet's own and of one HeldObjects at a time, made when it is missing. What lies
  /// in it from before counts, and stays until the folder is removed.
  explicit HeldObjects(std::string folder);
  HeldObjects(HeldObjects&&) noexcept;
  HeldObjects& operator=(HeldObjects&&) noexcept;
  ~HeldObjects();

  /// Before a command: holds `needed`, of which GitObjects::Has said that they are there, and says
  /// which it could: the content of the others must be copied. What was needed stays so until
  /// LetGo: only what is new must be given, and costs something when nothing else changed. (To a
  /// new HeldObjects, as after a restart, all that can still be undone must be given again.)
  std::vector<bool> Hold(const TrackedFiles& files, std::span<const GitObject> needed);

  /// After it: what the repository has in another place now is let go of. What it has no more is
  /// kept, to be read through FolderOf. Returns the ids that were needed and are nowhere. Waits for
  /// git only when packs or objects have vanished.
  std::vector<std::string> Release();

  /// Where what was kept of a repository lies, by its first folder of objects; a folder of objects
  /// itself, which may be missing.
  [[nodiscard]] std::string FolderOf(const std::string& objects) const;

  /// Lets go of all but what was kept, when no command is to be held for any more.
  void LetGo();

 private:
  class Repository;
  std::string folder_;
  std::map<std::string, std::unique_ptr<Repository>> repositories_;  // By folder of objects.
  std::size_t open_ = 0;                                             // Descriptors.
};

}  // namespace stet::tool
