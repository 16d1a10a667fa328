#include "policy/guarded.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/wildcard.h"

namespace stet::policy {
namespace {

struct Place {
  std::string_view below;  // A path; for those of the home folder relative to it.
  std::string_view what;
};

// In the home folder: the path itself and what is below it.
constexpr std::array kHome = {
    Place{".bashrc", "a shell runs it"},
    Place{".bash_profile", "a shell runs it"},
    Place{".bash_login", "a shell runs it"},
    Place{".bash_logout", "a shell runs it"},
    Place{".bash_aliases", "a shell runs it"},
    Place{".profile", "a shell runs it"},
    Place{".zshrc", "a shell runs it"},
    Place{".zshenv", "a shell runs it"},
    Place{".zprofile", "a shell runs it"},
    Place{".zlogin", "a shell runs it"},
    Place{".zlogout", "a shell runs it"},
    Place{".config/fish", "a shell runs it"},
    Place{".inputrc", "shells read it"},
    Place{".direnvrc", "a shell runs it"},
    Place{".config/direnv", "a shell runs it"},
    Place{".config/systemd", "it starts programs"},
    Place{".config/autostart", "it starts programs"},
    Place{".local/bin", "it holds programs"},
    Place{".gitconfig", "git obeys it"},
    Place{".config/git", "git obeys it"},
    Place{".yarnrc", "yarn obeys it"},
    Place{".yarnrc.yml", "yarn obeys it"},
    Place{".vimrc", "an editor runs it"},
    Place{".config/nvim", "an editor runs it"},
    Place{".emacs", "an editor runs it"},
    Place{".emacs.d", "an editor runs it"},
};

constexpr std::array kKeys = {
    Place{".ssh", "it holds keys"},
    Place{".gnupg", "it holds keys"},
    Place{".aws", "it holds keys"},
    Place{".azure", "it holds keys"},
    Place{".config/gcloud", "it holds keys"},
    Place{".config/gh", "it holds keys"},
    Place{".config/op", "it holds keys"},
    Place{".config/rclone", "it holds keys"},
    Place{".config/hub", "it holds keys"},
    Place{".config/glab-cli", "it holds keys"},
    Place{".kube", "it holds keys"},
    Place{".docker", "it holds keys"},
    Place{".netrc", "it holds keys"},
    Place{".pgpass", "it holds keys"},
    Place{".my.cnf", "it holds keys"},
    Place{".git-credentials", "it holds keys"},
    Place{".config/git/credentials", "it holds keys"},
    Place{".npmrc", "it holds keys"},
    Place{".pypirc", "it holds keys"},
    Place{".gem/credentials", "it holds keys"},
    Place{".cargo/credentials", "it holds keys"},
    Place{".cargo/credentials.toml", "it holds keys"},
    Place{".m2/settings.xml", "it holds keys"},
    Place{".terraform.d", "it holds keys"},
    Place{".vault-token", "it holds keys"},
    Place{".password-store", "it holds keys"},
    Place{".local/share/keyrings", "it holds keys"},
    Place{".local/share/kwalletd", "it holds keys"},
    Place{".claude/.credentials.json", "it holds keys"},
    Place{".codex/auth.json", "it holds keys"},
    Place{".gemini/oauth_creds.json", "it holds keys"},
    Place{".mozilla", "it is a browser's"},
    Place{".thunderbird", "it holds mail"},
    Place{".config/google-chrome", "it is a browser's"},
    Place{".config/chromium", "it is a browser's"},
    Place{".config/BraveSoftware", "it is a browser's"},
    Place{".config/microsoft-edge", "it is a browser's"},
    Place{".config/vivaldi", "it is a browser's"},
    Place{".config/opera", "it is a browser's"},
    Place{".bash_history", "it is what you typed"},
    Place{".zsh_history", "it is what you typed"},
};

// Anywhere: a folder or file of that name.
constexpr std::array kNames = {
    Place{".stet", "agents obey it"},      Place{".claude", "agents obey it"},
    Place{".codex", "agents obey it"},     Place{".gemini", "agents obey it"},
    Place{".cursor", "agents obey it"},    Place{".agents", "agents obey it"},
    Place{".mcp.json", "agents obey it"},  Place{".envrc", "a shell runs it"},
    Place{".vscode", "an editor runs it"}, Place{".idea", "an editor runs it"},
    Place{".husky", "git runs it"},        Place{".stetignore", "it hides files from agents"},
};

// Below a .git folder; its modules have their own.
constexpr std::array kGit = {
    Place{"hooks", "git runs it"},
    Place{"config", "git obeys it"},
    Place{"config.worktree", "git obeys it"},
    Place{"commondir", "git obeys it"},
    Place{"info", "git obeys it"},
};

constexpr std::array<std::string_view, 26> kSecretNames = {
    ".env",         ".env.*",          "*.env",
    ".envrc",       "*.pem",           "*.key",
    "*.p12",        "*.pfx",           "*.jks",
    "*.keystore",   "*.kdbx",          "id_rsa*",
    "id_dsa*",      "id_ecdsa*",       "id_ed25519*",
    ".htpasswd",    ".netrc",          ".pgpass",
    "*.ppk",        "credentials",     "credentials.json",
    "secrets.yml",  "secrets.yaml",    "secrets.json",
    "secrets.toml", ".git-credentials"};
constexpr std::array<std::string_view, 6> kPublicNames = {"*.pub",      "*.example", "*.sample",
                                                          "*.template", "*.dist",    "*.md"};

/// `path` is in lower case.
bool IsAt(std::string_view path, const Place& place) {
  const std::size_t size = place.below.size();
  return path.size() >= size && (path.size() == size || path[size] == '/') &&
         std::ranges::equal(path.substr(0, size), place.below, {}, {}, LowerChar);
}

template <std::size_t N>
std::string_view BelowHome(const std::array<Place, N>& table, std::string_view path,
                           std::string_view home) {
  if (home.empty() || !Inside(path, home)) return "";
  const std::string_view below = path.substr(std::min(home.size() + 1, path.size()));
  const auto* found =
      std::ranges::find_if(table, [&](const Place& place) { return IsAt(below, place); });
  return found == table.end() ? "" : found->what;
}

template <std::size_t N>
std::string_view Named(const std::array<Place, N>& table, std::string_view part) {
  const auto* found = std::ranges::find(table, part, &Place::below);
  return found == table.end() ? "" : found->what;
}

template <std::size_t N>
std::vector<std::string> NamesOf(const std::array<Place, N>& table) {
  std::vector<std::string> names;
  for (const Place& place : table) names.emplace_back(place.below);
  return names;
}

/// `parts` stand below a .git folder.
std::string_view InGit(const std::vector<std::string_view>& parts, std::size_t at) {
  if (at == parts.size()) return "it is git's own";  // The file or folder itself.
  while (at < parts.size()) {
    if (const std::string_view what = Named(kGit, parts[at]); !what.empty()) return what;
    if (parts[at] != "modules" && parts[at] != "worktrees") break;
    at += 2;  // Past its name.
  }
  return "";
}

}  // namespace

std::string_view GuardedFromChange(std::string_view given, const Places& places) {
  const std::string path = Lower(given);
  const std::string home = Lower(places.home);
  if (const std::string_view what = BelowHome(kHome, path, home); !what.empty()) return what;
  if (const std::string_view what = BelowHome(kKeys, path, home); !what.empty()) return what;
  // With a few others beside it that are ordinary files.
  if (given.ends_with("/HEAD")) return "git may take its folder for a repository";
  const std::vector<std::string_view> parts = PathParts(path);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (const std::string_view what = Named(kNames, parts[at]); !what.empty()) return what;
    if (parts[at] == ".git") {
      if (const std::string_view what = InGit(parts, at + 1); !what.empty()) return what;
    }
  }
  return "";
}

bool IsMagic(std::string_view path) {
  const std::vector<std::string_view> parts = PathParts(path);
  if (parts.empty() || parts[0] != "proc") return false;
  return std::ranges::any_of(parts, [](std::string_view part) {
    return part == "root" || part == "cwd" || part == "map_files" || part == "mem";
  });
}

std::vector<std::string> StartUpPlaces() { return NamesOf(kHome); }
std::vector<std::string> KeyPlaces() { return NamesOf(kKeys); }
std::vector<std::string> AgentNames() { return NamesOf(kNames); }
std::vector<std::string> GuardedNames() {
  std::vector<std::string> names = AgentNames();
  names.emplace_back(".git");
  return names;
}

std::vector<std::string> SecretNames() { return {kSecretNames.begin(), kSecretNames.end()}; }

bool LooksSecret(std::string_view given) {
  const std::string name = Lower(given);
  const auto matches = [&](std::string_view pattern) { return MatchPart(pattern, name); };
  return std::ranges::any_of(kSecretNames, matches) && std::ranges::none_of(kPublicNames, matches);
}

std::string_view GuardedFromSight(std::string_view given, const Places& places) {
  const std::string path = Lower(given);
  if (const std::string_view what = BelowHome(kKeys, path, Lower(places.home)); !what.empty())
    return what;
  const std::size_t slash = path.rfind('/');
  const std::string_view name =
      std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  return LooksSecret(name) ? "it looks as if it held secrets" : "";
}

}  // namespace stet::policy
