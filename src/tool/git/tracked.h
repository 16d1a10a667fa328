// TrackedFiles: which files of a project its repositories hold byte for byte as they are on disk,
// judged from the repositories' own files: nothing of them is run, no setting of theirs is obeyed
// to do something, and nothing of them is written.
//
// A file counts when the index has its size, times (nanoseconds, ctime too), inode and executable
// bit, when that cannot be by chance (the entry is older than the index), and no attribute says
// that git holds something else; or when it has the name that git gives to its bytes. What is not
// understood counts as not held. Believed are an index that somebody forged on purpose; the stat of
// a file that a filter or encoding wrote whose object is as large, when the attribute or the
// configuration of the filter is gone without a trace; and that of one that a process has mapped
// and writes.
//
// The project's own repository may begin above it; submodules, worktrees and repositories that lie
// in it are known. Belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sys/stat.h>

#include "base/clock.h"
#include "base/environment.h"
#include "tool/git/repository.h"

namespace stet::tool {

/// Where the content of a file is. What says so is stat or a hash of the file; that the object is
/// there, and as large as the file, only GitObjects::Has says: it decides under `text`, `eol` and
/// core.autocrlf.
struct GitObject {
  std::string id;                // In hex, SHA-1 or SHA-256.
  std::uint32_t repository = 0;  // For TrackedFiles::repository().
  std::uint64_t size = 0;        // Of the file.

  friend bool operator==(const GitObject&, const GitObject&) = default;
};

/// What may be spent on hashing files, and what was found out meanwhile: one for each checkpoint.
struct HashBudget {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  Deadline until = Deadline::After(std::chrono::milliseconds(300));
  /// Whether the attributes in a folder, and above it, are still as they were read; by its path.
  std::unordered_map<std::string, bool> as_read = {};
};

/// Larger files are not hashed.
inline constexpr std::uint64_t kMaxHashedFile = std::uint64_t{1} << 20;

class TrackedFiles {
 public:
  /// `root`: the project, a real path. Never fails: what makes no sense holds nothing.
  static TrackedFiles Read(const std::string& root,
                           const Environment& environment = Environment::OfProcess());
  TrackedFiles(TrackedFiles&&) noexcept;
  TrackedFiles& operator=(TrackedFiles&&) noexcept;
  ~TrackedFiles();

  /// Whether the index, the attributes or the configuration of a repository have changed since. A
  /// new file of attributes is noticed when a file below it is asked about (which is not git's
  /// then). Costs some stats, however many files there are.
  [[nodiscard]] bool Stale() const;

  /// Empty when the file must be copied. `path` is relative to the project, `now` its lstat.
  [[nodiscard]] std::optional<GitObject> ObjectOf(std::string_view path, const struct stat& now,
                                                  HashBudget& budget) const;

  /// Whether a repository has a link to just this at the path: that is all that is in one.
  [[nodiscard]] bool HasLink(std::string_view path, std::string_view target) const;

  /// Numbers are those of GitObject, and count for this value only: a repository's first folder of
  /// objects is its name for longer. Valid until it dies.
  [[nodiscard]] const GitRepository& repository(std::uint32_t number) const;
  /// The number of the repository that a folder of the project ("" is its top) lies in, if there is
  /// one.
  [[nodiscard]] std::optional<std::uint32_t> RepositoryOf(const std::string& folder) const;
  /// How many are known so far: those that lie in the project are found when a file of theirs is
  /// asked about.
  [[nodiscard]] std::uint32_t repositories() const;

 private:
  class Known;
  explicit TrackedFiles(std::unique_ptr<Known> known);
  std::unique_ptr<Known> known_;
};

}  // namespace stet::tool
