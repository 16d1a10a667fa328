#include "tool/git/obeyed.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include <fmt/format.h>

#include "base/fs.h"
#include "tool/git/settings.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxObeyedRepositories = 200;
constexpr int kMaxObeyedDepth = 16;  // The names of submodules have slashes.
constexpr int kMaxIncludes = 10;     // As git has it.
constexpr std::size_t kMaxLinkText = 4096;
constexpr std::size_t kMaxObeyedConfig = std::size_t{1} << 20;

constexpr const char* kNotYet[] = {"/commondir", "/config.worktree"};

namespace fs = std::filesystem;

/// Links followed as far as there is something; empty: it cannot be told.
std::string RealTarget(const std::string& base, const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::path(base) / path, error);
  return error ? "" : real.string();
}

/// The folder that a file called .git names; empty: none.
std::string LinkedFolder(const std::string& git) {
  constexpr std::string_view kLead = "gitdir: ";
  const std::string text = ReadFile(git, kMaxLinkText).value_or("");
  if (!text.starts_with(kLead)) return "";
  const std::string path =
      RealTarget(ParentDir(git), text.substr(kLead.size(), text.find('\n') - kLead.size()));
  return Exists(path) ? path : "";
}

class ObeyedCollector {
 public:
  /// Of a .git, whatever it is.
  void Collect(const std::string& git) {
    const Result<EntryKind> kind = KindOf(git);
    if (!kind) return;
    const std::string worktree = ParentDir(git);
    if (*kind == EntryKind::kDir) return Repository(git, worktree);
    const std::string real =
        *kind == EntryKind::kSymlink ? RealTarget(worktree, git) : LinkedFolder(git);
    if (const Result<FileStat> stat = StatFile(real); stat && stat->is_dir)
      Repository(real, worktree);
    places_.push_back(git);
  }

  std::vector<std::string> TakePlaces() { return std::move(places_); }

  /// What would be obeyed if it were there.
  std::vector<std::string> TakeAbsent() {
    for (const std::string& git : repositories_) {
      for (const char* name : kNotYet) {
        if (!Exists(git + name)) absent_.push_back(git + name);
      }
    }
    return std::move(absent_);
  }

 private:
  void Repository(const std::string& git, const std::string& worktree) {
    if (repositories_.size() == kMaxObeyedRepositories ||
        std::ranges::find(repositories_, git) != repositories_.end())
      return;
    repositories_.push_back(git);
    // What belongs to a linked worktree alone has neither; what it shares is a repository as well.
    const bool linked = Exists(git + "/commondir");
    for (const char* name : {"/hooks", "/config"}) {
      if (!linked || Exists(git + name)) places_.push_back(git + name);
    }
    for (const char* name : {"/config.worktree", "/info/attributes", "/commondir"}) {
      if (Exists(git + name)) places_.push_back(git + name);
    }
    for (const char* name : {"/config", "/config.worktree"}) Config(git + name, {git, worktree}, 0);
    if (linked) {
      const std::string text = ReadFile(git + "/commondir", kMaxLinkText).value_or("");
      const std::string common = RealTarget(git, text.substr(0, text.find('\n')));
      if (Exists(common + "/objects")) Repository(common, worktree);
    }
    Modules(git + "/modules", 0);
  }

  struct Home {
    std::string git;
    std::string worktree;  // Where hooks are looked for from.
  };

  /// What a configuration names: more of it, and a folder of hooks.
  void Config(const std::string& file, Home home, int depth) {
    const Result<FileBytes> text = ReadRegularFile(file, kMaxObeyedConfig);
    const auto settings = text ? ParseGitSettings(text->bytes) : Result<std::vector<GitSetting>>();
    if (!text || !settings || depth > kMaxIncludes) return;
    for (const GitSetting& setting : *settings) {
      if (setting.name == "core.worktree") home.worktree = RealTarget(home.git, setting.value);
    }
    for (const GitSetting& setting : *settings) {
      if (setting.name == "core.hookspath") {
        const std::string folder = RealTarget(home.worktree, setting.value);
        // Elsewhere nobody makes one.
        if (Exists(folder) || folder.starts_with(home.worktree + "/")) Named(folder);
      }
      const bool includes =
          setting.name == "include.path" ||
          (setting.name.starts_with("includeif.") && setting.name.ends_with(".path"));
      if (!includes || setting.value.starts_with('~')) continue;
      const std::string path = RealTarget(ParentDir(file), setting.value);
      if (!Exists(path)) {
        absent_.push_back(path);
        continue;
      }
      Named(path);
      Config(path, home, depth + 1);
    }
  }

  /// Devices are nobody's to guard.
  void Named(const std::string& path) {
    const Result<EntryKind> kind = KindOf(path);
    const bool other = kind && *kind != EntryKind::kFile && *kind != EntryKind::kDir;
    if (path.size() < 2 || other || path.starts_with("/proc/")) return;
    if (std::ranges::find(places_, path) == places_.end()) places_.push_back(path);
  }

  void Modules(const std::string& folder, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries || depth > kMaxObeyedDepth) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      if (entry.kind != EntryKind::kDir) continue;
      if (Exists(path + "/HEAD"))
        Repository(path, path);
      else
        Modules(path, depth + 1);
    }
  }

  std::vector<std::string> places_;
  std::vector<std::string> absent_;
  std::vector<std::string> repositories_;
};

}  // namespace

std::vector<std::string> NotYetObeyed(const std::vector<std::string>& repositories) {
  ObeyedCollector collector;
  for (const std::string& git : repositories) collector.Collect(git);
  return collector.TakeAbsent();
}

std::vector<std::string> SetAside(const std::vector<std::string>& files) {
  std::vector<std::string> done;
  for (const std::string& file : files) {
    if (KindOf(file) && Rename(file, file + ".set-aside")) done.push_back(file);
  }
  return done;
}

std::string SetAsideNote(const std::vector<std::string>& files) {
  std::string note;
  for (const std::string& file : files)
    note += fmt::format("(It made {0}, which git obeys: it is {0}.set-aside now.)\n", file);
  return note;
}

std::vector<std::string> ObeyedByGit(const std::string& git) {
  ObeyedCollector collector;
  collector.Collect(git);
  return collector.TakePlaces();
}

std::vector<std::string> RepositoriesAbove(const std::string& path, const std::string& project) {
  std::vector<std::string> found;
  for (std::string at = path; at.size() > project.size() && at.starts_with(project + "/");) {
    at = ParentDir(at);
    if (std::string git = at + "/.git"; KindOf(git)) found.push_back(std::move(git));
  }
  return found;
}

}  // namespace stet::tool
