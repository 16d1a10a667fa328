// TreeLock: the locks of a root session and of all its children at once, so that no process writes
// any of them while the tree is moved or cleaned up. Owned by one thread; gives them up when it is
// gone.
#pragma once

#include <string>
#include <vector>

#include "base/lock.h"
#include "base/result.h"
#include "store/session_store.h"

namespace stet::store {

class TreeLock {
 public:
  /// Root first, then its children in the order of their ids; of a child its own lock alone. kBusy
  /// names the session that is held and the process that holds it; then none is held.
  static Result<TreeLock> Acquire(const SessionStore& store, const SessionPlace& place);
  /// Of the folders of a tree that has no place yet, root first.
  static Result<TreeLock> Acquire(const std::vector<std::string>& dirs);

 private:
  std::vector<FileLock> locks_;
};

}  // namespace stet::store
