#include "store/staging.h"

#include "base/fs.h"
#include "base/plain_file.h"

namespace stet::store {
namespace {

/// No session is called so.
std::string OwnerLock(const std::string& dir) { return dir + "/.owner"; }

}  // namespace

Result<Staging> Staging::Make(const std::string& sessions) {
  RETURN_IF_ERROR(MakeDirs(sessions));
  ASSIGN_OR_RETURN(std::string dir, MakeTempDir(sessions, kTempFilePrefix));
  Result<FileLock> owner = FileLock::Acquire(OwnerLock(dir));
  if (owner) return Staging(std::move(dir), *std::move(owner));
  (void)RemoveTree(dir);  // The error above says more.
  return std::unexpected(std::move(owner).error());
}

bool Staging::IsLeft(const std::string& dir) {
  return PlainFileSize(OwnerLock(dir)) && !FileLock::Holder(OwnerLock(dir));
}

Staging::~Staging() {
  if (!dir_.empty()) (void)RemoveTree(dir_);  // `gc` finds what is left.
}

}  // namespace stet::store
