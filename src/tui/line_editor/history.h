// History: what was written before, oldest first, in a file of the user's alone.
//
// The file has one JSON string a line, so an entry may have many lines. Several programs may add to
// it: each reads it once, when it starts. At most kMaxEntries are kept. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stet::tui {

class History {
 public:
  static constexpr std::size_t kMaxEntries = 1000;
  static constexpr std::size_t kMaxEntryBytes = 16'384;

  /// What cannot be read is not there. An empty path: only in memory.
  explicit History(std::string path);

  [[nodiscard]] const std::vector<std::string>& entries() const { return entries_; }
  /// Leaves out what is blank, too long, or the same as the entry before. A file that cannot be
  /// written is no reason to stop: the entry is then kept here alone.
  void Add(const std::string& entry);

 private:
  void Rewrite() const;

  std::string path_;
  std::vector<std::string> entries_;
};

}  // namespace stet::tui
