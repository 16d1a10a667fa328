#include "tool/walk.h"

#include <algorithm>
#include <vector>

#include "base/fs.h"
#include "tool/ignore.h"
#include "tool/paths.h"
#include "tool/text_file.h"
#include "tool/wildcard.h"

namespace stet::tool {

namespace {

constexpr std::size_t kMaxIgnoreBytes = std::size_t{1} << 20;

class Walker {
 public:
  Walker(const CancelToken& cancel, const UseFile& use) : cancel_(cancel), use_(use) {}

  /// Rules of the folders above the one that is walked.
  void AddRulesAbove(const std::string& folder, const std::string& project) {
    if (!IsInside(folder, project)) return;
    std::string at = project;
    std::string rest = folder.substr(std::min(project.size(), folder.size()));
    for (const std::string_view part : PathParts(rest)) {
      PushRules(at, parts_.size());
      parts_.emplace_back(part);
      (at += '/') += part;
    }
  }

  Status Walk(const std::string& folder, const std::string& shown, int depth) {
    if (cancel_.cancelled()) return Fail(Code::kCancelled, "cancelled");
    auto entries = ListDir(folder);
    if (!entries) return {};
    Sort(*entries);
    PushRules(folder, parts_.size());
    for (const DirEntry& entry : *entries) {
      if (stopped_) break;
      RETURN_IF_ERROR(Visit(entry, folder, shown, depth));
    }
    rules_.pop_back();
    return {};
  }

 private:
  struct Level {
    IgnoreFile file;
    std::size_t depth;  // How many parts lead to its folder.
  };

  /// As whole paths sort: a folder's name counts with its slash.
  static void Sort(std::vector<DirEntry>& entries) {
    const auto key = [](const DirEntry& entry) {
      return entry.kind == EntryKind::kDir ? entry.name + "/" : entry.name;
    };
    std::ranges::sort(entries, {}, key);
  }

  Status Visit(const DirEntry& entry, const std::string& folder, const std::string& shown,
               int depth) {
    const bool is_dir = entry.kind == EntryKind::kDir;
    if (entry.name == ".git" || entry.kind == EntryKind::kOther) return {};
    parts_.push_back(entry.name);
    Status status;
    if (!IsIgnored(is_dir)) {
      const std::string path = shown.empty() ? entry.name : shown + "/" + entry.name;
      if (!is_dir)
        UseFileAt(folder + "/" + entry.name, path, entry.kind == EntryKind::kSymlink);
      else if (depth < kMaxWalkDepth)
        status = Walk(folder + "/" + entry.name, path, depth + 1);
    }
    parts_.pop_back();
    return status;
  }

  void UseFileAt(const std::string& real, const std::string& path, bool is_link) {
    if (is_link) {
      const auto target = StatFile(real);
      if (!target || !target->is_file) return;
    }
    stopped_ = !use_(path, is_link);
  }

  void PushRules(const std::string& folder, std::size_t depth) {
    auto file = ReadRegularFile(folder + "/.gitignore", kMaxIgnoreBytes);
    rules_.push_back({IgnoreFile(file ? file->bytes : ""), depth});
  }

  /// The innermost file that says anything decides.
  [[nodiscard]] bool IsIgnored(bool is_dir) const {
    for (auto level = rules_.rbegin(); level != rules_.rend(); ++level) {
      const std::vector<std::string_view> path(
          parts_.begin() + static_cast<std::ptrdiff_t>(level->depth), parts_.end());
      const IgnoreFile::Verdict verdict = level->file.Judge(path, is_dir);
      if (verdict != IgnoreFile::Verdict::kNothing) return verdict == IgnoreFile::Verdict::kIgnored;
    }
    return false;
  }

  const CancelToken& cancel_;
  const UseFile& use_;
  std::vector<std::string> parts_;  // From the project, or the folder when it is outside.
  std::vector<Level> rules_;
  bool stopped_ = false;
};

}  // namespace

Status WalkFiles(const std::string& folder, const std::string& project, const CancelToken& cancel,
                 const UseFile& use) {
  Walker walker(cancel, use);
  walker.AddRulesAbove(folder, project);
  return walker.Walk(folder == "/" ? "" : folder, "", 0);
}

}  // namespace stet::tool
