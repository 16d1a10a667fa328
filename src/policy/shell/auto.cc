#include "policy/shell/auto.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/option.h"
#include "policy/shell/path.h"

namespace stet::policy {
namespace {

constexpr std::string_view kDerivedFolders =
    "build dist out target node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox "
    ".nox coverage "
    "htmlcov .nyc_output .next .nuxt .turbo .cache .parcel-cache tmp temp obj .gradle .venv venv "
    ".eggs _build "
    "bazel-bin bazel-out .svelte-kit .angular .vite .output storybook-static test-results "
    "playwright-report "
    ".terraform .dart_tool DerivedData .build cmake-build-debug cmake-build-release .coverage "
    ".hypothesis logs";

constexpr std::array<std::string_view, 15> kDerivedEndings = {
    ".o",    ".obj",         ".pyc",      ".log", ".tmp",     ".class", ".gcda", ".gcno",
    ".lcov", ".tsbuildinfo", ".egg-info", ".so",  ".profraw", ".prof",  ".whl"};

/// Files whose change makes other programs run something, or lets us do more.
constexpr std::string_view kKept = ".git .stet .claude .envrc .direnv .husky";

/// Whether a path, or one that a pattern may become, has such a part.
bool IsKept(const ShellPath& path, std::string_view root) {
  std::string_view rest = path.path;
  rest.remove_prefix(std::min(rest.size(), root == "/" ? 0 : root.size()));
  const std::string all = fmt::format("{}/{}", rest, path.name);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('/', at), all.size());
    const std::string_view part = std::string_view(all).substr(at, end - at);
    const bool hidden_glob =
        part.starts_with('.') && part.find_first_of("*?[") != std::string_view::npos;
    if (HasWord(kKept, part) || hidden_glob) return true;
    at = end + 1;
  }
  return false;
}

class AutoJudge {
 public:
  AutoJudge(bool sandboxed, std::span<const std::string> roots, const IsRestorable& restorable)
      : sandboxed_(sandboxed), roots_(roots), restorable_(restorable) {}

  /// Why a command is asked; empty: it is not.
  std::string Ask(const ShellCommand& command) const {
    if (command.privileged) return "it runs as another user";
    if (command.odd || command.heavy)
      return command.why.empty() ? "it hides what it runs" : command.why;
    if (command.git_elsewhere && !IsHome(command))
      return "git runs in another folder, whose settings may name programs";
    for (const ShellPath& path : command.loses) {
      if (!MayGo(path)) return command.why.empty() ? "it may lose files for good" : command.why;
    }
    for (const ShellPath& path : command.writes) {
      if (!IsOwn(path)) return "it writes outside the project";
      if (KeepsOut(path)) return "it writes where programs look for what to run";
    }
    if (command.sets_git) return std::string(kSetsGit);
    if (TakesUntracked(command)) return "it takes away what git does not know";
    if (MovesAway(command)) return "it moves files where nothing keeps them";
    switch (command.effect) {
      case ShellEffect::kNetwork: return command.why;
      case ShellEffect::kUnknown:
      case ShellEffect::kProcess: return sandboxed_ ? "" : command.why;
      case ShellEffect::kDestroys: return command.loses.empty() ? command.why : "";
      default: break;
    }
    if (sandboxed_) return "";
    const bool far = std::ranges::any_of(
        command.reads, [&](const ShellPath& path) { return !IsOwn(path) && !IsSink(path.path); });
    return far ? "it reads outside the project" : "";
  }

 private:
  [[nodiscard]] bool InRoots(std::string_view path) const {
    return std::ranges::any_of(roots_,
                               [&](const std::string& root) { return IsInside(path, root); });
  }

  [[nodiscard]] bool IsOwn(const ShellPath& path) const {
    if (path.reach == ShellPath::Reach::kAnywhere) return sandboxed_;
    return InRoots(path.path) || IsTemporary(path.path);
  }

  /// git in a folder of the project, held by the sandbox.
  [[nodiscard]] bool IsHome(const ShellCommand& command) const {
    return sandboxed_ && !command.folders.empty() &&
           std::ranges::all_of(command.folders,
                               [&](const std::string& folder) { return InRoots(folder); });
  }

  [[nodiscard]] bool KeepsOut(const ShellPath& path) const {
    return std::ranges::any_of(roots_, [&](const std::string& root) {
      return IsInside(path.path, root) && IsKept(path, root);
    });
  }

  [[nodiscard]] bool IsVolatile(const ShellPath& path) const {
    return IsTemporary(path.path) || std::ranges::any_of(roots_, [&](const std::string& root) {
             return IsDerived(path.path + "/" + path.name, root);
           });
  }

  /// `git stash -u`: with the folders that stand in the project only for the sandbox.
  [[nodiscard]] bool TakesUntracked(const ShellCommand& command) const {
    const auto is = [&](std::string_view text) {
      return std::ranges::any_of(command.words,
                                 [&](const ShellWord& word) { return word.text == text; });
    };
    return sandboxed_ && command.is_git && is("stash") &&
           (is("-u") || is("-a") || is("--include-untracked") || is("--all"));
  }

  /// What is moved to a folder that the system or another user may clean is as good as lost.
  [[nodiscard]] bool MovesAway(const ShellCommand& command) const {
    if (command.words.empty() || command.words[0].text != "mv") return false;
    return std::ranges::any_of(command.loses,
                               [&](const ShellPath& path) { return IsVolatile(path); }) &&
           !std::ranges::all_of(command.reads, [&](const ShellPath& path) { return MayGo(path); });
  }

  [[nodiscard]] bool MayGo(const ShellPath& path) const {
    if (path.reach == ShellPath::Reach::kAnywhere || KeepsOut(path)) return false;
    const bool matches = path.reach == ShellPath::Reach::kMatches;
    if (IsTemporary(path.path) || (matches && path.path == "/tmp")) return true;
    const auto root = std::ranges::find_if(roots_, [&](const std::string& one) {
      return IsInside(path.path, one) && (path.path != one || matches);
    });
    if (root == roots_.end()) return false;
    return IsDerived(path.path + "/" + path.name, *root) || (restorable_ && restorable_(path.path));
  }

  bool sandboxed_;
  std::span<const std::string> roots_;
  const IsRestorable& restorable_;
};

}  // namespace

std::vector<std::string> DerivedFolders() {
  std::vector<std::string> names;
  for (std::string_view rest = kDerivedFolders; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

bool IsDerived(std::string_view path, std::string_view root) {
  if (!IsInside(path, root)) return false;
  path.remove_prefix(std::min(path.size(), root == "/" ? 0 : root.size()));
  for (const std::string_view ending : kDerivedEndings) {
    if (path.ends_with(ending)) return true;
  }
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (HasWord(kDerivedFolders, path.substr(0, end)) || path.substr(0, end).starts_with("build-"))
      return true;
    path.remove_prefix(end);
  }
  return false;
}

AutoAnswer AutoVerdict(const ShellAnalysis& analysis, bool sandboxed,
                       std::span<const std::string> roots, const IsRestorable& restorable) {
  if (!analysis.understood) return {false, fmt::format("it was not understood: {}", analysis.why)};
  if (analysis.commands.empty()) return {false, "there is no command"};
  const AutoJudge judge(sandboxed, roots, restorable);
  // A link leads what is deleted behind it elsewhere than its path says.
  const auto links = [](const ShellCommand& command) {
    return !command.words.empty() && command.words[0].text.ends_with("ln");
  };
  const auto loses = [](const ShellCommand& command) { return !command.loses.empty(); };
  if (analysis.commands.size() > 1 && std::ranges::any_of(analysis.commands, links) &&
      std::ranges::any_of(analysis.commands, loses))
    return {false, "it makes a link and deletes or overwrites files"};
  for (const ShellCommand& command : analysis.commands) {
    std::string why = judge.Ask(command);
    if (!why.empty()) return {false, std::move(why)};
  }
  return {true, ""};
}

}  // namespace stet::policy
