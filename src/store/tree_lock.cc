#include "store/tree_lock.h"

#include <fmt/format.h>

#include "log/paths.h"

namespace stet::store {

Result<TreeLock> TreeLock::Acquire(const SessionStore& store, const SessionPlace& place) {
  return Acquire(store.TreeDirs(place));
}

Result<TreeLock> TreeLock::Acquire(const std::vector<std::string>& dirs) {
  TreeLock held;
  for (const std::string& dir : dirs) {
    const log::Paths paths{dir};
    Result<FileLock> lock = FileLock::Acquire(paths.lock());
    if (!lock)
      return Fail(lock.error().code,
                  fmt::format("session {}: {}", paths.session_id(), lock.error().message));
    held.locks_.push_back(*std::move(lock));
  }
  return held;
}

}  // namespace stet::store
