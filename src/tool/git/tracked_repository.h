// TrackedRepository: one repository as TrackedFiles knows it: its index, its attributes, and which
// files were hashed. Belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "tool/git/attributes.h"
#include "tool/git/index.h"
#include "tool/git/repository.h"
#include "tool/git/tracked.h"

namespace stet::tool {

/// How a file looks: when this is the same, so are its bytes, unless it was just changed.
struct Looks {
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;

  static Looks Of(const struct stat& now);
  friend bool operator==(const Looks&, const Looks&) = default;
};

/// A file that was looked at, or its absence.
struct SeenFile {
  std::string path;
  std::optional<Looks> looks;
};

/// Follows links: what is named may be one, and what is behind it counts. Of a folder only which it
/// is: git makes its locks in it.
std::optional<Looks> LooksOf(const std::string& path);

/// "a/b" of "a/b/c", "" of "c".
std::string FolderInRepository(std::string_view path);
/// "a/b/c" of "a/b" and "c", "c" of "" and "c".
std::string PathInRepository(const std::string& folder, std::string_view name);

class TrackedRepository {
 public:
  /// `below`: what of its files is asked about, "" for all. What is read is added to `seen`.
  TrackedRepository(GitRepository where, std::string below, std::vector<SeenFile>& seen);

  [[nodiscard]] const GitRepository& where() const { return where_; }
  [[nodiscard]] bool Tracks(std::string_view path) const { return index_.Find(path) != nullptr; }
  /// Attributes are no more as they were read.
  [[nodiscard]] bool moved() const { return moved_; }

  /// The id of the object that has what is in the file at `path`, from the top of the repository.
  std::optional<std::string> IdOf(std::string_view path, const struct stat& now,
                                  HashBudget& budget);
  [[nodiscard]] bool HasLink(std::string_view path, std::string_view target) const;

 private:
  void ReadAttributes(std::vector<SeenFile>& seen);
  void ReadFolder(const std::string& folder, std::vector<SeenFile>& seen);
  /// Those with tracked files and those above them, as far as they matter for what is asked about.
  [[nodiscard]] std::set<std::string> Folders() const;
  bool HasAttributesAsRead(const std::string& folder, HashBudget& budget);
  /// A file that was written under other attributes may look as the index has it and be something
  /// else: where attributes have changed only a hash counts. Of other things than filters the size
  /// of the object tells.
  [[nodiscard]] bool Settled(std::string_view path, const GitIndexEntry& entry) const;
  [[nodiscard]] bool LooksLike(const GitIndexEntry& entry, const struct stat& now,
                               const std::string& id) const;
  bool HashesTo(const GitIndexEntry& entry, const struct stat& now, const std::string& id,
                HashBudget& budget);

  struct Hashed {
    Looks looks;
    bool equal;
  };

  GitRepository where_;
  std::string below_;
  GitIndex index_;
  GitAttributes attributes_;
  std::string empty_id_;
  std::map<std::string, Looks> there_;  // Files of attributes, by folder.
  bool moved_ = false;
  std::vector<std::string> unsettled_;  // Folders whose attributes are not those of the index.
  std::vector<std::pair<std::string, std::uint64_t>> changed_;  // When those of folders changed.
  std::unordered_map<const GitIndexEntry*, Hashed> hashed_;
};

}  // namespace stet::tool
