#include "sandbox/placeholders.h"

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

namespace stet::sandbox {
namespace {

/// The time of change that a folder of ours has: one second after the beginning of time.
constexpr time_t kMark = 1;
constexpr mode_t kMode = 0755;
constexpr int kMostTries = 10;

bool LeadsNowhereElse(const std::string& folder) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                         &std::free);
  return real != nullptr && folder == real.get();
}

bool IsOurs(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
  const auto entries = ListDir(path);
  return facts.st_mtim.tv_sec == kMark && entries && entries->empty();
}

/// Still what stands there: another process may have taken it away before we had the lock.
bool StandsAt(const Fd& folder, const std::string& path) {
  struct stat held{};
  struct stat there{};
  return ::fstat(folder.get(), &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

/// Made or found, and held; nothing when something else is there, or nothing can be made.
Fd Hold(const std::string& path) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    const bool made = ::mkdir(path.c_str(), kMode) == 0;
    if (!made && (errno != EEXIST || !IsOurs(path))) return {};
    Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) continue;
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                               {.tv_sec = kMark, .tv_nsec = 0}};
    if (made) ::futimens(folder.get(), times);
    if (::flock(folder.get(), LOCK_SH) == 0 && StandsAt(folder, path)) return folder;
  }
  return {};
}

}  // namespace

void Placeholders::Make(const Texts& paths) {
  for (const std::string& path : paths) {
    const std::string above = ParentDir(path);
    if (::access(above.c_str(), W_OK) != 0 || !LeadsNowhereElse(above)) continue;
    if (Fd folder = Hold(path)) held_.push_back({path, std::move(folder)});
  }
}

Placeholders::~Placeholders() {
  for (const Held& one : held_) {
    // Only an empty folder is removed: another process may have put something into it meanwhile.
    if (::flock(one.folder.get(), LOCK_EX | LOCK_NB) == 0 && StandsAt(one.folder, one.path))
      ::rmdir(one.path.c_str());
  }
}

}  // namespace stet::sandbox
