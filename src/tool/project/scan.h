// ProjectScan: what the files of a project look like, for noticing what a command did to them.
//
// Files, links and folders as lstat(2) tells of them; contents are not read. Left out are `.git`,
// what is neither file, link nor folder, and what can be made again: folders that git ignores and
// the wish calls expendable. It is cut at a number of entries, of bytes or of milliseconds; two
// scans are then compared as far as both go. A plain value: folders in which nothing changed are
// shared by the scans of a view (view.h), and comparing passes over them. Blocks on the disk: for
// threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/folder_watch.h"
#include "base/result.h"

namespace stet::tool {

struct ScanLimits {
  std::size_t max_entries = 100'000;
  std::size_t max_bytes = std::size_t{32} << 20;
  std::chrono::milliseconds max_time{2000};
};

/// A file or a link.
struct ScannedFile {
  std::string name;  // In its folder.
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;  // With its kind, as stat(2) has it.

  friend bool operator==(const ScannedFile&, const ScannedFile&) = default;
};

struct ScannedFolder {
  struct Below {
    std::string name;
    std::shared_ptr<const ScannedFolder> folder;
  };
  std::vector<ScannedFile> files;    // By their names.
  std::vector<Below> folders;        // By their names.
  std::vector<std::string> guarded;  // Names of ScanWish::guarded that stand here.
  std::optional<ScannedFile> rules;  // Its .gitignore.
  std::uint32_t mode = 0;            // Permission bits.
  bool ignored = false;              // By git, or it lies in a folder that is.
  bool links_here = false;           // A watch on this folder does not tell of every change in it.
  bool links_below = false;          // The same, or of one that is below.
  std::size_t entries = 0;           // Files, with those below.
};

struct ProjectScan {
  std::shared_ptr<const ScannedFolder> top;  // Never null.
  bool capped = false;                       // There is more behind `last`.
  /// Of one that looked only where changes were told: a file has another name since, and what lies
  /// under that was perhaps not looked at.
  bool new_names = false;
  std::string last;     // Of a capped scan: the last file that was looked at.
  std::int64_t ms = 0;  // What it took.
};

struct ScanWish {
  std::string root;  // A real path.
  ScanLimits limits = {};
  /// Names of places that programs obey. They are noted wherever they stand.
  std::vector<std::string> guarded = {};
  /// Names of folders whose content can be made again; only where git ignores them.
  std::vector<std::string> expendable = {};
  /// Folders of such names, relative to the project, that are looked at all the same.
  std::set<std::string> tracked = {};
  /// Told of each folder before it is looked at. May be null.
  FolderWatch* watch = nullptr;
};

Result<ProjectScan> ScanProject(const ScanWish& wish, const CancelToken& cancel);

/// The same of a project that was scanned whole before and in which nothing but `changes` came
/// about since. Looks only there, and where links are.
Result<ProjectScan> ScanAgain(const ScanWish& wish, const ProjectScan& before,
                              const FolderWatch::Changes& changes, const CancelToken& cancel);

/// What stands under one path in two scans: a file or link, a folder, or nothing. It lives as long
/// as both scans.
struct ScanChange {
  std::string path;  // Relative to the project.
  const ScannedFile* file_before = nullptr;
  const ScannedFile* file_after = nullptr;
  const ScannedFolder* folder_before = nullptr;
  const ScannedFolder* folder_after = nullptr;
};

/// What is not the same in both, in the order of a walk. A folder is when both have it with the
/// same mode.
std::vector<ScanChange> CompareScans(const ProjectScan& before, const ProjectScan& after);

/// What is guarded in it, relative to the project.
std::vector<std::string> GuardedIn(const ProjectScan& scan);

}  // namespace stet::tool
