#include "tool/git/programs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/display_width.h"
#include "base/environment.h"
#include "base/fs.h"
#include "tool/git/index.h"
#include "tool/git/settings.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxLinkBytes = 4096;
constexpr std::size_t kMaxRepositories = 200;  // With its submodules.
constexpr int kMaxModuleDepth = 16;            // The names of submodules have slashes.

bool IsThere(const std::string& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0;
}

std::string CanonicalPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? "" : real.string();
}

/// The path that a file of git's names; a relative one starts at `base`. Empty: none.
std::string Named(const std::string& file, std::string_view lead, const std::string& base) {
  const Result<FileBytes> read = ReadRegularFile(file, kMaxLinkBytes);
  if (!read || !read->bytes.starts_with(lead)) return "";
  std::string path = read->bytes.substr(lead.size());
  while (path.ends_with('\n') || path.ends_with('\r')) path.pop_back();
  return path.empty() ? "" : CanonicalPath(std::filesystem::path(base) / path);
}

class Finder {
 public:
  GitPrograms Find(const std::string& folder) {
    for (std::string at = folder;; at = ParentDir(at)) {
      const std::string prefix = at == "/" ? "" : at;
      if (LookIn(prefix + "/.git", at) || LookIn(at, at)) break;
      if (at.size() <= 1) break;
    }
    return std::move(found_);
  }

 private:
  /// True when git would look no further.
  bool LookIn(const std::string& git, const std::string& root) {
    const Result<FileStat> stat = StatFile(git);
    if (!stat) return false;
    std::string folder = git;
    if (!stat->is_dir) {
      if (git == root) return false;
      folder = Named(git, "gitdir: ", root);
      if (folder.empty()) {
        Doubt(git, "a link that cannot be followed");
        return Is(root);
      }
    }
    // Without these it is no repository, and git goes on above.
    if (!IsThere(folder + "/HEAD")) return false;
    const bool linked = IsThere(folder + "/commondir");
    const bool whole = IsThere(folder + "/objects") && IsThere(folder + "/refs");
    if (git == root && !whole && !linked) return false;
    Repository(folder, root);
    return (whole || linked) && Is(root);
  }
  bool Is(const std::string& root) {
    found_.root = root;
    return true;
  }

  void Repository(const std::string& git, const std::string& worktree) {
    if (++repositories_ > kMaxRepositories) {
      if (repositories_ == kMaxRepositories + 1) Doubt(git, "too many submodules");
      return;
    }
    Config(git + "/config", git);
    Config(git + "/config.worktree", git);
    Hooks(git + "/hooks");
    if (IsThere(git + "/commondir")) {
      const std::string common = Named(git + "/commondir", "", git);
      if (common.empty()) return Doubt(git + "/commondir", "a link that cannot be followed");
      if (common != CanonicalPath(git)) Repository(common, "");
    }
    Modules(git + "/modules", 0);
    Embedded(git, worktree);
  }

  void Config(const std::string& file, const std::string& git) {
    if (!IsThere(file)) return;
    const Result<FileBytes> text = ReadRegularFile(file, kMaxConfigBytes);
    if (!text) return Doubt(file, "what cannot be read");
    const Result<std::vector<GitSetting>> settings = ParseGitSettings(text->bytes);
    if (!settings) return Doubt(file, "what makes no sense");
    for (const GitSetting& setting : *settings) {
      // That of a submodule always says where its files are.
      const bool module = git.contains("/modules/") && setting.name == "core.worktree" &&
                          setting.value.starts_with("../");
      if (module || IsHarmless(setting)) continue;
      auto& to = setting.name == "core.hookspath" ? found_.hooks : found_.settings;
      to.push_back({setting.name, setting.value, file});
    }
  }

  void Hooks(const std::string& folder) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      constexpr mode_t kExecutable = 0111;
      const Result<FileStat> stat = StatFile(path);
      if (!entry.name.ends_with(".sample") && stat && stat->is_file &&
          (stat->mode & kExecutable) != 0)
        found_.hooks.push_back({"hook " + entry.name, "", path});
    }
  }

  /// The repositories of submodules: commands that look at the one look at them as well.
  void Modules(const std::string& folder, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries) return;
    if (depth > kMaxModuleDepth) return Doubt(folder, "too many folders");
    for (const DirEntry& entry : *entries) {
      if (repositories_ > kMaxRepositories) return;
      const std::string path = folder + "/" + entry.name;
      if (const Result<FileStat> stat = StatFile(path); !stat || !stat->is_dir) continue;
      if (IsThere(path + "/HEAD"))
        Repository(path, "");
      else
        Modules(path, depth + 1);
    }
  }

  /// Submodules whose repository lies among their files. An index may be in two files.
  void Embedded(const std::string& git, const std::string& worktree) {
    const Result<std::vector<DirEntry>> entries = ListDir(git);
    if (worktree.empty() || !entries) return;
    for (const DirEntry& entry : *entries) {
      if (entry.name == "index" || entry.name.starts_with("sharedindex."))
        Linked(git, git + "/" + entry.name, worktree);
    }
  }
  void Linked(const std::string& git, const std::string& index, const std::string& worktree) {
    const Result<std::vector<std::string>> links = GitLinks(index);
    if (!links) return Doubt(index, "what cannot be looked through");
    for (const std::string& link : *links) {
      const std::string inner = fmt::format("{}/{}/.git", worktree, link);
      const Result<FileStat> stat = StatFile(inner);
      if (!stat) continue;
      const std::string folder = stat->is_dir ? inner : Named(inner, "gitdir: ", ParentDir(inner));
      const bool seen = folder.starts_with(git + "/modules/");
      if (!seen && IsThere(folder + "/HEAD")) Repository(folder, ParentDir(inner));
    }
  }

  void Doubt(const std::string& path, std::string_view why) {
    found_.settings.push_back({std::string(why), "", path});
  }

  GitPrograms found_;
  std::size_t repositories_ = 0;
};

}  // namespace

GitPrograms FindGitPrograms(const std::string& folder) { return Finder().Find(folder); }

std::string Text(const GitProgram& program, const std::string& folder) {
  const bool inside = program.file.starts_with(folder + "/");
  // Its words are the repository's.
  return PrintableText(fmt::format("{} in {}", program.what,
                                   inside ? program.file.substr(folder.size() + 1) : program.file));
}

std::vector<std::string> KeepGitHooksOff(std::vector<std::string> variables) {
  constexpr std::string_view kCount = "GIT_CONFIG_COUNT";
  // What is set so already stays; the last of a name counts.
  std::size_t count = 0;
  for (const std::string& variable : variables) {
    if (VariableName(variable) != kCount) continue;
    const std::string_view value = std::string_view(variable).substr(kCount.size() + 1);
    std::from_chars(value.data(), value.data() + value.size(), count);
  }
  std::erase_if(variables, [&](const std::string& one) { return VariableName(one) == kCount; });
  for (const auto& [key, value] :
       {std::pair("core.fsmonitor", "false"), std::pair("core.hooksPath", "/dev/null")}) {
    variables.push_back(fmt::format("GIT_CONFIG_KEY_{}={}", count, key));
    variables.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", count, value));
    ++count;
  }
  variables.push_back(fmt::format("{}={}", kCount, count));
  return variables;
}

}  // namespace stet::tool
