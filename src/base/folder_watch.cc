#include "base/folder_watch.h"

#include <array>
#include <cstring>

#include <sys/inotify.h>
#include <unistd.h>

namespace stet {
namespace {

constexpr std::uint32_t kChanges = IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB |
                                   IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr std::uint32_t kNames = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;

}  // namespace

FolderWatch::FolderWatch()
    : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), in_force_(fd_.get() >= 0) {}

void FolderWatch::Add(const std::string& folder) {
  if (!in_force_) return;
  const int number = ::inotify_add_watch(fd_.get(), folder.c_str(), kChanges);
  if (number < 0) {
    // A folder that vanished meanwhile is told by the one above it.
    in_force_ = errno == ENOENT || errno == ENOTDIR;
    return;
  }
  // The same folder under another name than before: the new one counts.
  if (const auto known = folders_.find(number); known != folders_.end())
    numbers_.erase(known->second);
  folders_[number] = folder;
  numbers_[folder] = number;
}

void FolderWatch::Forget(const std::string& folder) {
  const auto inside = [&](const std::string& path) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  };
  // Between a folder and what is in it stand names that continue its own.
  auto one = numbers_.lower_bound(folder);
  while (one != numbers_.end() && one->first.starts_with(folder)) {
    if (!inside(one->first)) {
      ++one;
      continue;
    }
    ::inotify_rm_watch(fd_.get(), one->second);
    folders_.erase(one->second);
    one = numbers_.erase(one);
  }
}

FolderWatch::Changes FolderWatch::Take() {
  Changes changes;
  alignas(inotify_event) std::array<char, 65536> buffer;
  ssize_t got = 0;
  while (in_force_ && (got = ::read(fd_.get(), buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) changes.lost = true;
      const auto folder = folders_.find(event.wd);
      if (folder == folders_.end() || (event.mask & IN_IGNORED) != 0) continue;
      changes.folders.insert(folder->second);
      if ((event.mask & IN_ISDIR) != 0 && (event.mask & kNames) != 0 && event.len > 0)
        changes.renewed.insert(folder->second + "/" + name);
    }
  }
  return changes;
}

}  // namespace stet
