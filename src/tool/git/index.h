// GitIndex: what a repository's index says of its files, read without git: nothing that the
// repository configures is obeyed.
//
// Versions 2, 3 and 4, both formats of ids, split and sparse indexes. Untrusted bytes: an index
// that makes no sense, or has an extension that changes its meaning and is not known here, is
// kInvalid.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tool/git/blob_id.h"

namespace stet::tool {

struct GitIndexEntry {
  std::string path;  // From the top of the repository.
  std::array<char, IdSize(GitFormat::kSha256)> id{};
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint32_t inode = 0;  // The low half of it.
  std::uint32_t mode = 0;   // As git has it: 0100644, 0100755, 0120000, 0160000, 040000.
  std::uint32_t size = 0;   // The low half of it; 0 where git wants to look at the file again.
  std::uint8_t stage = 0;   // Not 0: one of several versions of an unfinished merge.
  bool to_add = false;      // `git add -N`: there is no object yet.
  /// Not older than the file that it stands in: a file that was changed at that moment looks the
  /// same.
  bool racy = false;

  [[nodiscard]] bool is_file() const { return (mode & 0170000U) == 0100000U; }
  [[nodiscard]] bool is_link() const { return mode == 0160000; }  // A submodule.
};

/// The bytes of an index, and when they were written.
struct GitIndexFile {
  std::string bytes;
  std::uint64_t time_ns = 0;
};

class GitIndex {
 public:
  /// The file that the index shares with others, by its id in hex.
  using Shared = std::function<Result<GitIndexFile>(const std::string& id)>;
  static Result<GitIndex> Parse(const GitIndexFile& file, GitFormat format, const Shared& shared);
  /// Of the repository whose own folder this is. One without an index has no entries.
  static Result<GitIndex> Read(const std::string& git, GitFormat format);

  /// By path, then stage.
  [[nodiscard]] const std::vector<GitIndexEntry>& entries() const { return entries_; }
  /// In hex; empty when the index stands in one file.
  [[nodiscard]] const std::string& shared() const { return shared_; }
  /// The one version of the file, if there is just that.
  [[nodiscard]] const GitIndexEntry* Find(std::string_view path) const;

 private:
  std::vector<GitIndexEntry> entries_;
  std::string shared_;
};

inline constexpr std::size_t kMaxGitIndex = std::size_t{256} << 20;

/// The paths of submodules that an index has, or a part of one. kInvalid for one that makes no
/// sense, or is larger than kMaxLinkedIndex.
Result<std::vector<std::string>> GitLinks(const std::string& index_file);
inline constexpr std::size_t kMaxLinkedIndex = std::size_t{64} << 20;

}  // namespace stet::tool
