// GitIndex: which files of a repository git could give back, read from .git/index without running
// git: nothing that the repository configures is obeyed.
//
// A file counts when its entry has the size and times that the file has now: then what is in the
// file is in the repository's objects. Untrusted bytes: an index that makes no sense has no
// entries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace stet::tool {

class GitIndex {
 public:
  /// `bytes` are those of the file, which was last changed at `mtime_ns`.
  static GitIndex Parse(std::string_view bytes, std::uint64_t mtime_ns);
  /// Of the repository whose root this is; empty when there is none.
  static GitIndex Read(const std::string& root);

  /// Whether the file, at a path relative to the root, is as git knows it.
  [[nodiscard]] bool Has(const std::string& root, const std::string& path) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t mtime = 0;
    std::uint32_t mtime_nanos = 0;
    std::uint32_t size = 0;
    std::uint32_t inode = 0;
  };
  std::unordered_map<std::string, Entry> entries_;
};

/// The paths of submodules that an index has. kInvalid for one that makes no sense, or is larger
/// than kMaxLinkedIndex.
Result<std::vector<std::string>> GitLinks(const std::string& index_file);
inline constexpr std::size_t kMaxLinkedIndex = std::size_t{64} << 20;

/// Whether all that is at the path, which lies in the repository at `root`, can be restored: there
/// is nothing, or git has every file of it as it is. False for more than kMaxRestorableFiles.
bool IsRestorable(const std::string& root, const std::string& path);
inline constexpr std::size_t kMaxRestorableFiles = 20'000;

}  // namespace stet::tool
