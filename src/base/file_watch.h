// FileWatch: tells of writes to files, by any process.
//
// One per loop; everything happens on the loop's thread. Watching a file costs nothing while it is
// not written. Writes to a file that cannot be watched (the system has no watch left, or there is
// no such file) are not told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/loop.h"

namespace stet {

class FileWatch {
 public:
  explicit FileWatch(Loop& loop);
  ~FileWatch();

  /// Ends when it is destroyed; the FileWatch outlives it.
  using Handle = std::shared_ptr<void>;
  /// `written` is called some time after a write; several writes may be one call. Null when the
  /// file cannot be watched.
  Handle Add(const std::string& path, std::function<void()> written);

 private:
  void Read();

  Fd fd_;
  std::unique_ptr<FdWatch> watch_;
  std::map<int, std::weak_ptr<std::function<void()>>> watched_;
};

}  // namespace stet
