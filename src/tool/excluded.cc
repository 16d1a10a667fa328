#include "tool/excluded.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "tool/paths.h"
#include "tool/walk.h"

namespace stet::tool {
namespace {

class Searcher {
 public:
  Searcher(const IgnoreFile& exclude, const ExcludedLimits& limits)
      : exclude_(exclude), limits_(limits), end_(Deadline::After(limits.time)) {}

  ExcludedPaths Search(const std::string& project) {
    FindLinked(project);
    if (linked_.empty()) return std::move(found_);
    // Rare, and another walk: what stands visible may be one of them.
    Walk(project == "/" ? "" : project, 0, [this](const std::string& path, bool, bool excluded) {
      if (!excluded && linked_.contains(IdOf(path).id)) Add(path);
    });
    return std::move(found_);
  }

  /// Those with several names, whatever their number.
  std::set<FileId> FindLinked(const std::string& project) {
    Walk(project == "/" ? "" : project, 0,
         [this](const std::string& path, bool is_dir, bool excluded) {
           if (!excluded) return;
           Add(path);
           NoteLinked(path, is_dir, 0);
         });
    return linked_;
  }

 private:
  struct Identity {
    FileId id;
    bool linked = false;
  };
  /// Told of every file, and of what is excluded, folders as a whole.
  using See = std::function<void(const std::string& path, bool is_dir, bool excluded)>;

  static Identity IdOf(const std::string& path) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
    return {{facts.st_dev, facts.st_ino}, facts.st_nlink > 1};
  }

  void Walk(const std::string& folder, int depth, const See& see) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder.empty() ? "/" : folder);
    // A folder that cannot be listed counts as excluded, since what is in it is not known.
    if (!entries) return see(folder, true, true);
    if (depth > kMaxWalkDepth || end_.Passed()) return GiveUp();
    for (const DirEntry& entry : *entries) {
      if (!found_.all) return;
      if (++looked_ > limits_.entries) return GiveUp();
      if (entry.kind == EntryKind::kSymlink || entry.name == ".git") continue;
      parts_.push_back(entry.name);
      Visit(entry, folder + "/" + entry.name, depth, see);
      parts_.pop_back();
    }
  }

  void Visit(const DirEntry& entry, const std::string& path, int depth, const See& see) {
    const std::vector<std::string_view> parts(parts_.begin(), parts_.end());
    const bool is_dir = entry.kind == EntryKind::kDir;
    // As policy has it: a pattern for folders covers a file of that name as well.
    const bool excluded =
        exclude_.Judge(parts, true) == IgnoreFile::Verdict::kIgnored ||
        (!is_dir && exclude_.Judge(parts, false) == IgnoreFile::Verdict::kIgnored);
    if (excluded || !is_dir)
      see(path, is_dir, excluded);
    else
      Walk(path, depth + 1, see);
  }

  void NoteLinked(const std::string& path, bool is_dir, int depth) {
    if (!is_dir) {
      const Identity file = IdOf(path);
      if (file.linked) linked_.insert(file.id);
      return;
    }
    const Result<std::vector<DirEntry>> entries = ListDir(path);
    if (!entries || depth > kMaxWalkDepth) return;
    for (const DirEntry& entry : *entries) {
      if (++inside_ > limits_.inside || end_.Passed()) return;
      if (entry.kind == EntryKind::kDir || entry.kind == EntryKind::kFile)
        NoteLinked(path + "/" + entry.name, entry.kind == EntryKind::kDir, depth + 1);
    }
  }

  void Add(const std::string& path) {
    if (found_.paths.size() >= limits_.paths) return GiveUp();
    found_.paths.push_back(path);
  }

  void GiveUp() { found_.all = false; }

  const IgnoreFile& exclude_;
  ExcludedLimits limits_;
  Deadline end_;
  std::size_t looked_ = 0;
  std::size_t inside_ = 0;
  std::vector<std::string> parts_;
  std::set<FileId> linked_;
  ExcludedPaths found_;
};

/// Those that lie in another one go.
void DropInner(std::vector<std::string>& paths) {
  std::ranges::sort(paths);
  std::vector<std::string> kept;
  for (std::string& path : paths) {
    const bool inner =
        std::ranges::any_of(kept, [&](const std::string& outer) { return IsInside(path, outer); });
    if (!inner) kept.push_back(std::move(path));
  }
  paths = std::move(kept);
}

}  // namespace

ExcludedPaths FindExcluded(const std::string& project, const IgnoreFile& exclude,
                           const ExcludedLimits& limits) {
  if (exclude.empty()) return {};
  return Searcher(exclude, limits).Search(project);
}

ExcludedPaths FindExcluded(const std::vector<ExcludedPlace>& places, const ExcludedLimits& limits) {
  ExcludedPaths all;
  for (const ExcludedPlace& place : places) {
    std::error_code error;
    const std::string real = std::filesystem::canonical(place.folder, error).string();
    if (error || real == "/") continue;
    ExcludedPaths found{.paths = {real}};
    if (place.patterns) found = FindExcluded(real, *place.patterns, limits);
    all.all = all.all && found.all;
    std::ranges::move(found.paths, std::back_inserter(all.paths));
  }
  DropInner(all.paths);
  if (all.paths.size() > limits.paths) {
    all.paths.resize(limits.paths);
    all.all = false;
  }
  return all;
}

std::set<FileId> ExcludedWithOtherNames(const std::string& project, const IgnoreFile& exclude) {
  if (exclude.empty()) return {};
  constexpr std::size_t kMost = 200'000;
  return Searcher(exclude, {.paths = kMost, .entries = kMost, .inside = kMost}).FindLinked(project);
}

}  // namespace stet::tool
