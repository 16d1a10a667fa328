// Staging: a folder beside the sessions in which a tree is put together before it is one, or before
// it leaves. Gone when this is; what a killed process left is found by its lock, which ended with
// the process. Owned by one thread.
#pragma once

#include <string>
#include <utility>

#include "base/lock.h"
#include "base/result.h"

namespace stet::store {

class Staging {
 public:
  /// In the folder `sessions`, which is made if it is missing.
  static Result<Staging> Make(const std::string& sessions);

  /// Whether the process that made the folder is gone. False as well when that cannot be known,
  /// because it was killed before it took its lock: then only the folder's age tells.
  static bool IsLeft(const std::string& dir);

  Staging(Staging&& other) noexcept
      : dir_(std::exchange(other.dir_, "")), owner_(std::move(other.owner_)) {}
  Staging& operator=(Staging&&) = delete;
  ~Staging();

  [[nodiscard]] const std::string& dir() const { return dir_; }

 private:
  Staging(std::string dir, FileLock owner) : dir_(std::move(dir)), owner_(std::move(owner)) {}

  std::string dir_;  // Empty: moved from.
  FileLock owner_;
};

}  // namespace stet::store
