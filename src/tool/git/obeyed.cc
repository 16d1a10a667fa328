#include "tool/git/obeyed.h"

#include <cstddef>
#include <filesystem>

#include "base/fs.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxObeyedRepositories = 200;
constexpr int kMaxObeyedDepth = 16;  // The names of submodules have slashes.

constexpr const char* kNotYet[] = {"/commondir", "/config.worktree"};
constexpr std::size_t kMaxLinkText = 4096;

/// The folder that a file called .git names; empty: none.
std::string LinkedFolder(const std::string& git) {
  constexpr std::string_view kLead = "gitdir: ";
  const std::string text = ReadFile(git, kMaxLinkText).value_or("");
  if (!text.starts_with(kLead)) return "";
  const std::string path = text.substr(kLead.size(), text.find('\n') - kLead.size());
  std::error_code error;
  const auto real =
      std::filesystem::canonical(std::filesystem::path(git).parent_path() / path, error);
  return error ? "" : real.string();
}

class ObeyedCollector {
 public:
  std::vector<std::string> Collect(const std::string& git) {
    Repository(git);
    return std::move(places_);
  }

 private:
  void Repository(const std::string& git) {
    if (++repositories_ > kMaxObeyedRepositories) return;
    places_.push_back(git + "/hooks");
    places_.push_back(git + "/config");
    for (const char* name : {"/config.worktree", "/info/attributes", "/commondir"}) {
      if (Exists(git + name)) places_.push_back(git + name);
    }
    Modules(git + "/modules", 0);
  }

  void Modules(const std::string& folder, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries || depth > kMaxObeyedDepth) return;
    for (const DirEntry& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      if (entry.kind != EntryKind::kDir) continue;
      if (Exists(path + "/HEAD"))
        Repository(path);
      else
        Modules(path, depth + 1);
    }
  }

  std::vector<std::string> places_;
  std::size_t repositories_ = 0;
};

}  // namespace

std::vector<std::string> NotYetObeyed(const std::vector<std::string>& repositories) {
  std::vector<std::string> files;
  for (const std::string& git : repositories) {
    const Result<FileStat> stat = StatFile(git);
    if (!stat) continue;
    const std::string own = stat->is_dir ? git : LinkedFolder(git);
    if (own.empty()) continue;
    for (const std::string& place : ObeyedByGit(own)) {
      if (!place.ends_with("/hooks")) continue;
      for (const char* name : kNotYet) {
        std::string file = ParentDir(place) + name;
        if (!Exists(file)) files.push_back(std::move(file));
      }
    }
  }
  return files;
}

std::vector<std::string> SetAside(const std::vector<std::string>& files) {
  std::vector<std::string> done;
  for (const std::string& file : files) {
    if (KindOf(file) && Rename(file, file + ".set-aside")) done.push_back(file);
  }
  return done;
}

std::vector<std::string> ObeyedByGit(const std::string& git) {
  const Result<EntryKind> kind = KindOf(git);
  if (!kind) return {};
  if (*kind == EntryKind::kDir) return ObeyedCollector().Collect(git);
  std::vector<std::string> places;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(git, error);
  if (*kind == EntryKind::kSymlink && !error) places = ObeyedCollector().Collect(real.string());
  places.push_back(git);
  return places;
}

}  // namespace stet::tool
