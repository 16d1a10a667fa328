#include "tool/project/scan.h"

#include <algorithm>
#include <map>
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
constexpr std::uint32_t kModeBits = 07777;

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
    scan.top = Folder(wish_.root == "/" ? "" : wish_.root, before, {});
    if (cancel_.cancelled()) return Fail(Code::kCancelled, "cancelled");
    // What is shared with the scan before was not counted anew.
    scan.capped = capped_ || scan.top->entries > wish_.limits.max_entries;
    scan.last = std::move(last_);
    scan.new_names = new_names_;
    scan.ms = std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - begin)
                  .count();
    return scan;
  }

 private:
  /// Whether something changed there, or could have without being told.
  [[nodiscard]] bool IsDirty(const std::string& path, const ScannedFolder& old) const {
    return old.links_here || changes_->folders.contains(path);
  }

  /// Where a folder lies.
  struct Depth {
    int folders = 0;       // Above it.
    bool ignored = false;  // Git ignores it.
  };

  /// As it is now; the same as before where nothing changed.
  FolderPtr Folder(const std::string& path, const FolderPtr& old, Depth depth) {
    if (!old || IsDirty(path, *old)) return List(path, old, depth);
    if (!old->links_below && !AnyInside(changes_->folders, path)) return old;
    auto folder = std::make_shared<ScannedFolder>(*old);
    const std::size_t mark = rules_.Enter(path, parts_.size());
    for (ScannedFolder::Below& below : folder->folders) {
      parts_.push_back(below.name);
      below.folder =
          Folder(path + "/" + below.name, below.folder, {depth.folders + 1, below.folder->ignored});
      parts_.pop_back();
    }
    rules_.Leave(mark);
    Sum(*folder);
    return folder;
  }

  FolderPtr List(const std::string& path, const FolderPtr& old, Depth depth) {
    auto folder = std::make_shared<ScannedFolder>();
    folder->ignored = depth.ignored;
    if (wish_.watch != nullptr) wish_.watch->Add(path.empty() ? "/" : path);
    const auto entries = ListDir(path.empty() ? "/" : path);
    const Fd fd(::open(path.empty() ? "/" : path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat facts{};
    if (fd && ::fstat(fd.get(), &facts) == 0) folder->mode = facts.st_mode & kModeBits;
    if (!entries || !fd) return folder;
    const std::size_t mark = rules_.Enter(path, parts_.size());
    if (std::ranges::binary_search(*entries, ".gitignore", {}, &DirEntry::name))
      folder->rules = Look(fd, ".gitignore").file;
    // Rules that are others now hold for all that is below.
    const FolderPtr below = old && old->rules == folder->rules ? old : nullptr;
    for (const DirEntry& entry : *entries) {
      if (capped_ || cancel_.cancelled()) break;
      parts_.push_back(entry.name);
      Visit(entry, path, {*folder, fd, below, old, depth});
      parts_.pop_back();
    }
    rules_.Leave(mark);
    Sum(*folder);
    return folder;
  }

  struct Place {
    ScannedFolder& folder;
    const Fd& fd;
    const FolderPtr& old;    // Null: nothing below it is shared.
    const FolderPtr& known;  // As it was. Null: it is new.
    Depth depth;
  };

  static bool HasFile(const ScannedFolder& folder, const ScannedFile& file) {
    const auto found = std::ranges::lower_bound(folder.files, file.name, {}, &ScannedFile::name);
    return found != folder.files.end() && found->name == file.name && found->inode == file.inode;
  }

  void Visit(const DirEntry& entry, const std::string& path, const Place& place) {
    const bool is_dir = entry.kind == EntryKind::kDir;
    if (std::ranges::find(wish_.guarded, entry.name) != wish_.guarded.end())
      place.folder.guarded.push_back(entry.name);
    if (entry.name == ".git" || entry.kind == EntryKind::kOther) return;
    if (!is_dir) return AddFile(entry, place);
    const bool ignored = place.depth.ignored || rules_.Ignores(parts_, true);
    const std::string below = path + "/" + entry.name;
    if (ignored && std::ranges::find(wish_.expendable, entry.name) != wish_.expendable.end() &&
        !wish_.tracked.contains(below.substr(wish_.root.size() + 1)))
      return;
    if (place.depth.folders == kMaxWalkDepth) return;
    FolderPtr before = Before(place.old, below, entry.name);
    // Rules of a folder above may be others now.
    if (before && before->ignored != ignored) before = nullptr;
    place.folder.folders.push_back(
        {entry.name, Folder(below, before, {place.depth.folders + 1, ignored})});
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
    if (!seen.file) return;  // It vanished meanwhile, or is something else by now.
    place.folder.links_here = place.folder.links_here || seen.links > 1;
    if (seen.links > 1 && (!place.known || !HasFile(*place.known, *seen.file))) new_names_ = true;
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
  static Seen Look(const Fd& folder, const std::string& name) {
    struct stat facts{};
    if (::fstatat(folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return {};
    const bool is_link = S_ISLNK(facts.st_mode);
    if (!is_link && !S_ISREG(facts.st_mode)) return {};
    return {.file = ScannedFile{.name = name,
                                .size = static_cast<std::uint64_t>(facts.st_size),
                                .mtime_ns = Nanos(facts.st_mtim),
                                .ctime_ns = Nanos(facts.st_ctim),
                                .inode = facts.st_ino,
                                .mode = facts.st_mode},
            .links = is_link ? 1 : facts.st_nlink};
  }

  static std::uint64_t Nanos(const timespec& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * kNanos +
           static_cast<std::uint64_t>(time.tv_nsec);
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
  bool new_names_ = false;
};

class Comparison {
 public:
  Comparison(const ProjectScan& before, const ProjectScan& after)
      : before_(before), after_(after) {}

  std::vector<ScanChange> Compare() {
    Folders(*before_.top, *after_.top, "");
    std::vector<ScanChange> changes;
    for (auto& [path, change] : changes_) {
      change.path = path;
      changes.push_back(std::move(change));
    }
    return changes;
  }

 private:
  void Folders(const ScannedFolder& old, const ScannedFolder& now, const std::string& path) {
    if (&old == &now) return;
    static const ScannedFolder kNone;
    Merge(old.files, now.files, &ScannedFile::name,
          [&](const ScannedFile* was, const ScannedFile* is) { File(was, is, path); });
    Merge(old.folders, now.folders, &ScannedFolder::Below::name,
          [&](const ScannedFolder::Below* was, const ScannedFolder::Below* is) {
            const std::string name = path + (was != nullptr ? was : is)->name;
            const ScannedFolder* from = was != nullptr ? was->folder.get() : nullptr;
            const ScannedFolder* to = is != nullptr ? is->folder.get() : nullptr;
            Folder(name, from, to);
            Folders(from != nullptr ? *from : kNone, to != nullptr ? *to : kNone, name + "/");
          });
  }

  void Folder(const std::string& path, const ScannedFolder* was, const ScannedFolder* is) {
    if (was != nullptr && is != nullptr && was->mode == is->mode) return;
    if ((is == nullptr && !Knows(after_, path)) || (was == nullptr && !Knows(before_, path)))
      return;
    ScanChange& change = changes_[path];
    change.folder_before = was;
    change.folder_after = is;
  }

  void File(const ScannedFile* was, const ScannedFile* is, const std::string& folder) {
    if (was != nullptr && is != nullptr && *was == *is) return;
    const std::string path = folder + (was != nullptr ? was : is)->name;
    if ((is == nullptr && !Knows(after_, path)) || (was == nullptr && !Knows(before_, path)))
      return;
    ScanChange& change = changes_[path];
    change.file_before = was;
    change.file_after = is;
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
  struct Order {
    bool operator()(const std::string& a, const std::string& b) const { return WalkedBefore(a, b); }
  };
  /// What was a file and is a folder, or the other way round, is one change.
  std::map<std::string, ScanChange, Order> changes_;
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

std::vector<ScanChange> CompareScans(const ProjectScan& before, const ProjectScan& after) {
  return Comparison(before, after).Compare();
}

std::vector<std::string> GuardedIn(const ProjectScan& scan) {
  std::vector<std::string> found;
  AddGuarded(*scan.top, "", found);
  return found;
}

}  // namespace stet::tool
