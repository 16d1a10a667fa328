// Blobs: large content beside the log, named by its SHA-256. A blob is complete under its name or
// not there at all.
//
// Put makes it visible at once; Sync makes all that was put survive a power cut, and the log calls
// it before it flushes an event. Nothing is ever rewritten or removed here. Safe from any thread.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::log {

class Blobs {
 public:
  static constexpr std::size_t kMaxBlobBytes = std::size_t{1} << 30;

  /// `dir` is made with the first blob.
  explicit Blobs(std::string dir) : dir_(std::move(dir)) {}

  /// The name of the content: 64 hex digits.
  Result<std::string> Put(std::string_view content);
  /// kNotFound when there is none, kCorrupt when its content does not fit its name.
  [[nodiscard]] Result<std::string> Get(std::string_view name) const;
  /// Fails as Get does, and holds none of it.
  [[nodiscard]] Status Check(std::string_view name) const;
  Status Sync();

  static bool IsName(std::string_view text);
  /// Every string in a JSON text that could name a blob; hashes of other things are among them.
  static std::vector<std::string> NamesIn(std::string_view json);
  [[nodiscard]] std::string PathOf(std::string_view name) const {
    return dir_ + "/" + std::string(name);
  }
  [[nodiscard]] const std::string& dir() const { return dir_; }

 private:
  std::string dir_;
  std::mutex mutex_;
  std::vector<std::string> unsynced_;  // Guarded by mutex_, as is all below.
  /// What was put last, when it is small: the tools of a session are put at every step.
  std::string last_content_;
  std::string last_name_;
  static constexpr std::size_t kMaxRemembered = std::size_t{64} << 10;
};

}  // namespace stet::log
