#include "base/file_watch.h"

#include <array>
#include <cstring>
#include <vector>

#include <sys/inotify.h>
#include <unistd.h>

namespace stet {

FileWatch::FileWatch(Loop& loop) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (fd_.get() < 0) return;
  watch_ = std::make_unique<FdWatch>(loop, fd_.get(), [this](bool, bool) { Read(); });
  watch_->Want(true, false);
}

FileWatch::~FileWatch() = default;

FileWatch::Handle FileWatch::Add(const std::string& path, std::function<void()> written) {
  if (fd_.get() < 0) return nullptr;
  const int number = ::inotify_add_watch(fd_.get(), path.c_str(), IN_MODIFY);
  if (number < 0) return nullptr;
  const auto callback = std::make_shared<std::function<void()>>(std::move(written));
  watched_[number] = callback;
  // The handle keeps the callback, and takes the watch down with it.
  return {callback.get(), [this, number, callback](void*) {
            const auto found = watched_.find(number);
            if (found == watched_.end() || found->second.lock() != callback) return;
            watched_.erase(found);
            ::inotify_rm_watch(fd_.get(), number);
          }};
}

void FileWatch::Read() {
  std::vector<int> written;
  alignas(inotify_event) std::array<char, 16384> buffer;
  ssize_t got = 0;
  while ((got = ::read(fd_.get(), buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      if (written.empty() || written.back() != event.wd) written.push_back(event.wd);
    }
  }
  for (const int number : written) {
    const auto found = watched_.find(number);
    if (found == watched_.end()) continue;
    // It may end its own watch.
    if (const auto callback = found->second.lock()) (*callback)();
  }
}

}  // namespace stet
