#include "tool/git/repository.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "tool/git/settings.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxGitConfig = std::size_t{1} << 20;
constexpr std::size_t kMaxGitPointer = 4096;
constexpr std::size_t kMaxGitConfigs = 64;
constexpr int kMaxIncludeDepth = 10;  // As git has it.
constexpr std::size_t kMaxAlternates = 32;
constexpr int kMaxAlternateDepth = 5;  // As git has it.

/// Extensions that leave the index and the objects as they are.
constexpr std::array<std::string_view, 8> kKnownExtensions = {
    "noop",         "preciousobjects", "partialclone", "worktreeconfig",
    "objectformat", "refstorage",      "noop-v1",      "relativeworktrees"};

/// Empty when there is nothing.
std::string RealFolder(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return !error && std::filesystem::is_directory(real, error) ? real.string() : "";
}

/// The folder that a file names behind `lead`; a relative path starts at `base`.
std::string PointedFolder(const std::string& file, std::string_view lead, const std::string& base) {
  const Result<FileBytes> read = ReadRegularFile(file, kMaxGitPointer);
  if (!read || !read->bytes.starts_with(lead)) return "";
  std::string path = read->bytes.substr(lead.size());
  while (path.ends_with('\n') || path.ends_with('\r')) path.pop_back();
  if (path.empty() || path.contains('\0')) return "";
  return RealFolder(std::filesystem::path(base) / path);
}

bool IsYes(std::string_view value) {
  const std::string lower = Lower(value);
  return lower == "true" || lower == "yes" || lower == "on" || lower == "1";
}

class RepositoryReader {
 public:
  RepositoryReader(const std::string& root, const Environment& environment)
      : environment_(environment), home_(environment.Get("HOME")) {
    found_.root = root;
  }

  std::optional<GitRepository> Read() {
    if (!FindFolders() || !IsOurs()) return std::nullopt;
    const std::string xdg = environment_.Get("XDG_CONFIG_HOME");
    std::string user;
    if (!xdg.empty())
      user = xdg;
    else if (!home_.empty())
      user = home_ + "/.config";
    found_.read.push_back(found_.git + "/config.worktree");
    // Only the repository's own may say what it is; of all others only the attributes count.
    if (!Config(found_.common + "/config", true, 0)) return std::nullopt;
    if (worktree_config_ && !Config(found_.git + "/config.worktree", false, 0)) return std::nullopt;
    std::vector<std::string> others = {"/etc/gitconfig", environment_.Get("GIT_CONFIG_SYSTEM"),
                                       environment_.Get("GIT_CONFIG_GLOBAL")};
    if (!user.empty()) {
      others.push_back(user + "/git/config");
      found_.attributes.push_back(user + "/git/attributes");
    }
    if (!home_.empty()) others.push_back(home_ + "/.gitconfig");
    for (const std::string& other : others) {
      if (!other.empty() && !Config(other, false, 0)) found_.unsure = true;
    }
    Objects(found_.common + "/objects", 0);
    return std::move(found_);
  }

 private:
  bool FindFolders() {
    const std::string git = found_.root == "/" ? "/.git" : found_.root + "/.git";
    const Result<FileStat> stat = StatFile(git);
    if (!stat) return false;
    found_.read.push_back(git);
    found_.git = stat->is_dir ? RealFolder(git) : PointedFolder(git, "gitdir: ", found_.root);
    if (found_.git.empty() || !KindOf(found_.git + "/HEAD")) return false;
    const std::string common = found_.git + "/commondir";
    found_.read.push_back(common);
    found_.common = KindOf(common) ? PointedFolder(common, "", found_.git) : found_.git;
    return !found_.common.empty() && !RealFolder(found_.common + "/objects").empty();
  }

  [[nodiscard]] bool IsOurs() const {
    struct stat files{};
    if (::stat(found_.root.c_str(), &files) != 0) return false;
    return std::ranges::all_of(std::array{found_.git, found_.common}, [&](const auto& folder) {
      struct stat facts{};
      return ::stat(folder.c_str(), &facts) == 0 &&
             (facts.st_uid == ::geteuid() || facts.st_uid == 0 || facts.st_uid == files.st_uid);
    });
  }

  /// False when it is there and cannot be understood.
  bool Config(const std::string& file, bool own, int depth) {
    if (++configs_ > kMaxGitConfigs || depth > kMaxIncludeDepth) return false;
    found_.read.push_back(file);
    const Result<FileBytes> bytes = ReadRegularFile(file, kMaxGitConfig);
    if (!bytes) return bytes.error().code == Code::kNotFound;
    const Result<std::vector<GitSetting>> settings = ParseGitSettings(bytes->bytes);
    if (!settings) return false;
    return std::ranges::all_of(*settings, [&](const GitSetting& setting) {
      return Heed(setting, file, depth) && (!own || HeedOwn(setting));
    });
  }

  /// What any configuration may say.
  bool Heed(const GitSetting& setting, const std::string& file, int depth) {
    // Whether a condition holds is not looked at: what is named may count.
    const bool include =
        setting.name == "include.path" ||
        (setting.name.starts_with("includeif.") && setting.name.ends_with(".path"));
    if (include) {
      const std::optional<std::string> path = Expanded(setting.value, ParentDir(file));
      return path && Config(*path, false, depth + 1);
    }
    if (setting.name == "core.attributesfile") {
      const std::optional<std::string> path = Expanded(setting.value, found_.root);
      if (path)
        found_.attributes.push_back(*path);
      else
        found_.unsure = true;
    }
    if (setting.name.starts_with("filter.")) HeedFilter(setting.name);
    if (setting.name == "core.ignorecase" && IsYes(setting.value)) found_.ignore_case = true;
    // Attributes out of a commit.
    if (setting.name == "attr.tree") found_.unsure = true;
    return true;
  }

  void HeedFilter(std::string_view name) {
    using Filters = GitRepository::Filters;
    if (!name.ends_with(".clean") && !name.ends_with(".smudge") && !name.ends_with(".process"))
      return;
    const bool lfs = name.starts_with("filter.lfs.") && found_.filters != Filters::kOthers;
    found_.filters = lfs ? Filters::kLfs : Filters::kOthers;
  }

  bool HeedOwn(const GitSetting& setting) {
    constexpr std::string_view kExtension = "extensions.";
    if (setting.name == "core.repositoryformatversion")
      return setting.value == "0" || setting.value == "1";
    if (!setting.name.starts_with(kExtension)) return true;
    const std::string_view name = std::string_view(setting.name).substr(kExtension.size());
    if (name == "objectformat") {
      if (setting.value == "sha256") found_.format = GitFormat::kSha256;
      return setting.value == "sha1" || setting.value == "sha256";
    }
    if (name == "worktreeconfig") worktree_config_ = IsYes(setting.value);
    return std::ranges::find(kKnownExtensions, name) != kKnownExtensions.end();
  }

  /// Nothing for a path that only git can expand.
  [[nodiscard]] std::optional<std::string> Expanded(std::string_view path,
                                                    const std::string& base) const {
    if (path.empty() || path.starts_with("%(") || path.contains('\0')) return std::nullopt;
    if (path.starts_with("~/") && !home_.empty()) return home_ + std::string(path.substr(1));
    if (path.starts_with('~')) return std::nullopt;
    return path.starts_with('/') ? std::string(path) : base + "/" + std::string(path);
  }

  void Objects(const std::string& folder, int depth) {
    const std::string real = RealFolder(folder);
    const bool seen = std::ranges::find(found_.objects, real) != found_.objects.end();
    if (real.empty() || seen || found_.objects.size() > kMaxAlternates) return;
    found_.objects.push_back(real);
    const std::string alternates = real + "/info/alternates";
    found_.read.push_back(alternates);
    if (depth >= kMaxAlternateDepth) return;
    const Result<FileBytes> bytes = ReadRegularFile(alternates, kMaxGitConfig);
    if (!bytes) return;
    for (const std::string_view line : SplitLines(bytes->bytes)) {
      // Quoted ones are not followed here: their objects cannot be held, and are copied.
      if (line.empty() || line[0] == '#' || line[0] == '"' || line.contains('\0')) continue;
      Objects((std::filesystem::path(real) / line).string(), depth + 1);
    }
  }

  const Environment& environment_;
  std::string home_;
  GitRepository found_;
  bool worktree_config_ = false;
  std::size_t configs_ = 0;
};

}  // namespace

std::optional<GitRepository> OpenGitRepository(const std::string& root,
                                               const Environment& environment) {
  return RepositoryReader(root, environment).Read();
}

}  // namespace stet::tool
