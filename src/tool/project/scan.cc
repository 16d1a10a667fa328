#include "tool/project/scan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "tool/ignore_rules.h"
#include "tool/walk.h"

namespace stet::tool {

namespace {

using FolderPtr = std::shared_ptr<const ScannedFolder>;

constexpr std::uint64_t kNanos = 1'000'000'000;

/// The order of a walk: that of the names in each folder. A "/" ends a name, and so comes before
/// all that could continue it.
bool WalkedBefore(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

/// Nothing is known of what lies behind the end of a scan that was cut.
bool Knows(const ProjectScan& scan, std::string_view path) {
  return !scan.capped || (!scan.last.empty() && !WalkedBefore(scan.last, path));
}

/// The range of `paths` that lie in or below a folder is not empty.
bool AnyInside(const std::set<std::string>& paths, const std::string& folder) {
  const std::string below = folder + "/";
  const auto one = paths.lower_bound(below);
  return paths.contains(folder) || (one != paths.end() && one->starts_with(below));
}

class Scanner {
 public:
  Scanner(const ScanWish& wish, const FolderWatch::Changes* changes, const CancelToken& cancel)
      : wish_(wish),
        changes_(changes),
        cancel_(cancel),
        deadline_(Deadline::After(wish.limits.max_time)) {}

  Result<ProjectScan> Scan(const FolderPtr& before) {
    const auto begin = SystemClock().Steady();
    ProjectScan scan;
    scan.top = Folder(wish_.root == "/" ? "" : wish_.root, before, 0);
    if (cancel_.cancelled()) return Fail(Code::kCancelled, "cancelled");
    // What is shared with the scan before was not counted anew.
    scan.capped = capped_ || scan.top->entries > wish_.limits.max_entries;
    scan.last = std::move(last_);
    scan.ms = std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - begin)
                  .count();
    return scan;
  }

 private:
  /// Whether something changed there, or could have without being told.
  [[nodiscard]] bool IsDirty(const std::string& path, const ScannedFolder& old) const {
    return old.links_here || changes_->folders.contains(path);
  }

  /// As it is now; the same as before where nothing changed.
  FolderPtr Folder(const std::string& path, const FolderPtr& old, int depth) {
    if (!old || IsDirty(path, *old)) return List(path, old, depth);
    if (!old->links_below && !AnyInside(changes_->folders, path)) return old;
    auto folder = std::make_shared<ScannedFolder>(*old);
    const std::size_t mark = rules_.Enter(path, parts_.size());
    for (ScannedFolder::Below& below : folder->folders) {
      parts_.push_back(below.name);
      below.folder = Folder(path + "/" + below.name, below.folder, depth + 1);
      parts_.pop_back();
    }
    rules_.Leave(mark);
    Sum(*folder);
    return folder;
  }

  FolderPtr List(const std::string& path, const FolderPtr& old, int depth) {
    auto folder = std::make_shared<ScannedFolder>();
    if (wish_.watch != nullptr) wish_.watch->Add(path.empty() ? "/" : path);
    const auto entries = ListDir(path.empty() ? "/" : path);
    const Fd fd(::open(path.empty() ? "/" : path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!entries || !fd) return folder;
    const std::size_t mark = rules_.Enter(path, parts_.size());
    if (std::ranges::binary_search(*entries, ".gitignore", {}, &DirEntry::name))
      folder->rules = Look(fd, ".gitignore").file;
    // Rules that are others now hold for all that is below.
    const FolderPtr below = old && old->rules == folder->rules ? old : nullptr;
    for (const DirEntry& entry : *entries) {
      if (capped_ || cancel_.cancelled()) break;
      parts_.push_back(entry.name);
      Visit(entry, path, {.folder = *folder, .fd = fd, .old = below, .depth = depth});
      parts_.pop_back();
    }
    rules_.Leave(mark);
    Sum(*folder);
    return folder;
  }

  struct Place {
    ScannedFolder& folder;
    const Fd& fd;
    const FolderPtr& old;
    int depth;
  };

  void Visit(const DirEntry& entry, const std::string& path, const Place& place) {
    const bool is_dir = entry.kind == EntryKind::kDir;
    if (std::ranges::find(wish_.guarded, entry.name) != wish_.guarded.end())
      place.folder.guarded.push_back(entry.name);
    if (entry.name == ".git" || entry.kind == EntryKind::kOther) return;
    if (rules_.Ignores(parts_, is_dir)) return;
    if (is_dir && place.depth < kMaxWalkDepth) {
      const std::string below = path + "/" + entry.name;
      place.folder.folders.push_back(
          {entry.name, Folder(below, Before(place.old, below, entry.name), place.depth + 1)});
    } else if (!is_dir) {
      AddFile(entry, place);
    }
  }

  /// Null for a folder that is new, or another one under its name.
  FolderPtr Before(const FolderPtr& old, const std::string& path, const std::string& name) {
    if (!old) return nullptr;
    const auto found =
        std::ranges::lower_bound(old->folders, name, {}, &ScannedFolder::Below::name);
    if (found == old->folders.end() || found->name != name) return nullptr;
    if (!changes_->renewed.contains(path)) return found->folder;
    if (wish_.watch != nullptr) wish_.watch->Forget(path);
    return nullptr;
  }

  void AddFile(const DirEntry& entry, const Place& place) {
    const ScanLimits& limits = wish_.limits;
    if (files_ >= limits.max_entries || bytes_ >= limits.max_bytes || deadline_.Passed()) {
      capped_ = true;
      return;
    }
    const Seen seen = Look(place.fd, entry.name);
    if (!seen.file) return;  // It vanished meanwhile, or leads to no file.
    const bool linked = entry.kind == EntryKind::kSymlink || seen.links > 1;
    place.folder.links_here = place.folder.links_here || linked;
    place.folder.files.push_back(*seen.file);
    ++files_;
    bytes_ += sizeof(ScannedFile) + entry.name.size();
    last_.clear();
    for (const std::string& part : parts_) last_ += last_.empty() ? part : "/" + part;
  }

  struct Seen {
    std::optional<ScannedFile> file;
    std::uint64_t links = 0;
  };
  /// Follows a link, as whoever reads the file does.
  static Seen Look(const Fd& folder, const std::string& name) {
    struct stat facts{};
    if (::fstatat(folder.get(), name.c_str(), &facts, 0) != 0 || !S_ISREG(facts.st_mode)) return {};
    const auto mtime = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * kNanos +
                       static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
    return {.file = ScannedFile{.name = name,
                                .size = static_cast<std::uint64_t>(facts.st_size),
                                .mtime_ns = mtime,
                                .inode = facts.st_ino},
            .links = facts.st_nlink};
  }

  static void Sum(ScannedFolder& folder) {
    folder.entries = folder.files.size();
    folder.links_below = folder.links_here;
    for (const ScannedFolder::Below& below : folder.folders) {
      folder.entries += below.folder->entries;
      folder.links_below = folder.links_below || below.folder->links_below;
    }
  }

  const ScanWish& wish_;
  const FolderWatch::Changes* changes_;
  const CancelToken& cancel_;
  Deadline deadline_;
  IgnoreRules rules_;
  std::vector<std::string> parts_;
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
  std::string last_;
  bool capped_ = false;
};

class Comparison {
 public:
  Comparison(const ProjectScan& before, const ProjectScan& after)
      : before_(before), after_(after) {}

  ScanChanges Compare() {
    Folders(*before_.top, *after_.top, "");
    for (std::vector<std::string>* paths : {&changes_.written, &changes_.deleted})
      std::ranges::sort(*paths, WalkedBefore);
    return std::move(changes_);
  }

 private:
  void Folders(const ScannedFolder& old, const ScannedFolder& now, const std::string& path) {
    if (&old == &now) return;
    static const ScannedFolder kNone;
    Merge(old.files, now.files, &ScannedFile::name,
          [&](const ScannedFile* was, const ScannedFile* is) { File(was, is, path); });
    Merge(old.folders, now.folders, &ScannedFolder::Below::name,
          [&](const ScannedFolder::Below* was, const ScannedFolder::Below* is) {
            Folders(was != nullptr ? *was->folder : kNone, is != nullptr ? *is->folder : kNone,
                    path + (was != nullptr ? was : is)->name + "/");
          });
  }

  void File(const ScannedFile* was, const ScannedFile* is, const std::string& folder) {
    if (was != nullptr && is != nullptr && *was == *is) return;
    std::string path = folder + (was != nullptr ? was : is)->name;
    if (is == nullptr && Knows(after_, path))
      changes_.deleted.push_back(std::move(path));
    else if (is != nullptr && (was != nullptr || Knows(before_, path)))
      changes_.written.push_back(std::move(path));
  }

  /// Calls `see(old, now)` with what has the same name in both; null where one has no such.
  template <class Item, class See>
  static void Merge(const std::vector<Item>& old, const std::vector<Item>& now,
                    std::string Item::* name, const See& see) {
    auto was = old.begin();
    auto is = now.begin();
    while (was != old.end() || is != now.end()) {
      const bool only_old = is == now.end() || (was != old.end() && (*was).*name < (*is).*name);
      const bool only_now = was == old.end() || (is != now.end() && (*is).*name < (*was).*name);
      see(only_now ? nullptr : &*was, only_old ? nullptr : &*is);
      if (!only_now) ++was;
      if (!only_old) ++is;
    }
  }

  const ProjectScan& before_;
  const ProjectScan& after_;
  ScanChanges changes_;
};

void AddGuarded(const ScannedFolder& folder, const std::string& path,
                std::vector<std::string>& found) {
  for (const std::string& name : folder.guarded) found.push_back(path + name);
  for (const ScannedFolder::Below& below : folder.folders)
    AddGuarded(*below.folder, path + below.name + "/", found);
}

}  // namespace

Result<ProjectScan> ScanProject(const ScanWish& wish, const CancelToken& cancel) {
  const FolderWatch::Changes none;
  return Scanner(wish, &none, cancel).Scan(nullptr);
}

Result<ProjectScan> ScanAgain(const ScanWish& wish, const ProjectScan& before,
                              const FolderWatch::Changes& changes, const CancelToken& cancel) {
  return Scanner(wish, &changes, cancel).Scan(before.top);
}

ScanChanges CompareScans(const ProjectScan& before, const ProjectScan& after) {
  return Comparison(before, after).Compare();
}

std::vector<std::string> GuardedIn(const ProjectScan& scan) {
  std::vector<std::string> found;
  AddGuarded(*scan.top, "", found);
  return found;
}

}  // namespace stet::tool
