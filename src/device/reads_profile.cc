#include "device/reads_profile.h"

#include <algorithm>
#include <array>

#include "base/fs.h"

namespace stet::device {
namespace {

constexpr std::array kSystem = {"/usr",         "/bin",           "/sbin", "/lib", "/lib32",
                                "/lib64",       "/libx32",        "/etc",  "/opt", "/nix",
                                "/gnu",         "/snap",          "/proc", "/sys", "/var/lib/dpkg",
                                "/var/lib/rpm", "/var/lib/pacman"};

/// Below the home folder: settings without credentials, tool chains, and caches without tokens.
constexpr std::array kHome = {".gitconfig",
                              ".config/git/config",
                              ".config/git/ignore",
                              ".config/git/attributes",
                              ".gitignore",
                              ".gitignore_global",
                              ".gitattributes",
                              ".config/ripgrep",
                              ".ripgreprc",
                              ".config/bat",
                              ".config/fd",
                              ".terminfo",
                              ".rustup",
                              ".cargo/bin",
                              ".cargo/registry",
                              ".cargo/git",
                              ".nvm",
                              ".volta",
                              ".fnm",
                              ".local/share/fnm",
                              ".bun",
                              ".deno",
                              ".pyenv",
                              ".rbenv",
                              ".sdkman",
                              ".asdf",
                              ".local/share/mise",
                              ".local/share/uv",
                              ".local/bin",
                              ".local/lib",
                              ".local/pipx",
                              ".npm-global",
                              "go/bin",
                              "go/pkg",
                              "go/src",
                              "sdk",
                              ".cache/go-build",
                              ".cache/pip",
                              ".cache/uv",
                              ".m2/repository",
                              ".gradle/caches",
                              ".gradle/wrapper",
                              ".npm/_cacache",
                              ".opam",
                              ".ghcup",
                              ".cabal/bin",
                              ".stack/programs",
                              ".juliaup",
                              ".dotnet",
                              ".nuget/packages"};

/// What reads needs no more; `{1..99999999}` and the like end there, and not the machine.
constexpr std::int64_t kMaxFilled = std::int64_t{2} << 30;

/// What a program that only reads may need to know. Names that end with a star stand for all that
/// begin so.
constexpr std::array kVariables = {"PATH",
                                   "HOME",
                                   "USER",
                                   "LOGNAME",
                                   "SHELL",
                                   "PWD",
                                   "OLDPWD",
                                   "SHLVL",
                                   "HOSTNAME",
                                   "LANG",
                                   "LANGUAGE",
                                   "LC_*",
                                   "TZ",
                                   "TERM",
                                   "COLORTERM",
                                   "NO_COLOR",
                                   "CLICOLOR*",
                                   "FORCE_COLOR",
                                   "COLUMNS",
                                   "LINES",
                                   "CI",
                                   "PAGER",
                                   "GIT_PAGER",
                                   "EDITOR",
                                   "VISUAL",
                                   "GIT_EDITOR",
                                   "GIT_ASKPASS",
                                   "SSH_ASKPASS*",
                                   "SUDO_ASKPASS",
                                   "GIT_TERMINAL_PROMPT",
                                   "GIT_CONFIG_*",
                                   "GIT_OPTIONAL_LOCKS",
                                   "DEBIAN_FRONTEND",
                                   "BASH_ENV",
                                   "XDG_CACHE_HOME",
                                   "XDG_CONFIG_HOME",
                                   "XDG_DATA_HOME",
                                   "GOPATH",
                                   "GOROOT",
                                   "GOMODCACHE",
                                   "GOCACHE",
                                   "CARGO_HOME",
                                   "RUSTUP_HOME",
                                   "RUSTUP_TOOLCHAIN",
                                   "JAVA_HOME",
                                   "NVM_DIR",
                                   "PYENV_ROOT",
                                   "PYENV_VERSION",
                                   "VIRTUAL_ENV",
                                   "CONDA_PREFIX",
                                   "PYTHONPATH",
                                   "NODE_PATH",
                                   "LD_LIBRARY_PATH",
                                   "LS_COLORS",
                                   "GREP_COLORS"};

/// The folders that programs are looked for in, and what belongs to those that are called "bin".
void AddPrograms(const std::string& path, const std::string& home, sandbox::Texts& readable) {
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // The home folder itself, or one that it lies in, would open everything.
    if (!folder.starts_with('/') || folder == "/" || sandbox::Inside(home, folder)) continue;
    readable.push_back(folder);
    if (!folder.ends_with("/bin") || folder == "/bin") continue;
    for (const char* beside : {"/lib", "/libexec", "/share"})
      readable.push_back(ParentDir(folder) + beside);
  }
}

/// What lies in another of them says nothing more.
void DropNested(sandbox::Texts& paths) {
  std::ranges::sort(paths);
  sandbox::Texts kept;
  for (std::string& path : paths) {
    const bool nested = std::ranges::any_of(
        kept, [&](const std::string& folder) { return sandbox::Inside(path, folder); });
    if (!nested) kept.push_back(std::move(path));
  }
  paths = std::move(kept);
}

}  // namespace

sandbox::Profile MakeReadsProfile(const sandbox::Profile& whole, const Surroundings& surroundings) {
  sandbox::Profile profile;
  profile.readable.assign(kSystem.begin(), kSystem.end());
  profile.readable.insert(profile.readable.end(), whole.writable.begin(), whole.writable.end());
  if (!surroundings.home.empty()) {
    for (const char* below : kHome) profile.readable.push_back(surroundings.home + "/" + below);
  }
  AddPrograms(surroundings.path, surroundings.home, profile.readable);
  DropNested(profile.readable);
  profile.hidden = whole.hidden;
  profile.network = sandbox::network::kOff;
  profile.limits = whole.limits;
  profile.limits.data_bytes = kMaxFilled;
  profile.kept_variables.assign(kVariables.begin(), kVariables.end());
  profile.dropped_variables = whole.dropped_variables;
  return profile;
}

}  // namespace stet::device
