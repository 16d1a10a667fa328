#include "device/sandbox_profile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/fs.h"
#include "device/reads_profile.h"
#include "policy/guarded.h"
#include "tool/git/obeyed.h"

namespace stet::device {
namespace {

constexpr std::size_t kMaxLinkBytes = 4096;
constexpr std::int64_t kMega = std::int64_t{1} << 20;
/// Enough for every build; a fork bomb is not.
constexpr std::int64_t kProcesses = 8192;

/// Root could read these also without a capability: they are its own.
constexpr std::array kSystemSecrets = {
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
};

/// Variables with such names hold secrets, or lead to a process that has them.
constexpr std::array kDropped = {"*API_KEY",        "*APIKEY",
                                 "*TOKEN",          "*SECRET*",
                                 "*ACCESS_KEY",     "*PRIVATE_KEY",
                                 "*PASSWORD",       "*PASSWD",
                                 "*_CREDENTIALS",   "AWS_*",
                                 "SSH_AUTH_SOCK",   "SSH_AGENT_PID",
                                 "GPG_AGENT_INFO",  "DBUS_SESSION_BUS_ADDRESS",
                                 "DOCKER_HOST",     "XDG_RUNTIME_DIR",
                                 "WAYLAND_DISPLAY", "XAUTHORITY"};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? "" : real.string();
}

std::string FirstLineOfFile(const std::string& path) {
  std::string text = ReadFile(path, kMaxLinkBytes).value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

class ProfileMaker {
 public:
  explicit ProfileMaker(const ProfileSources& sources) : sources_(sources) {}

  sandbox::Profile Make() {
    AddRoot(sources_.project);
    for (const std::string& folder : sources_.more_roots) AddRoot(folder);
    for (const std::string& path : Names(sources_.settings.write))
      profile_.writable.push_back(path.starts_with("~/") ? AtHome(path.substr(2)) : path);
    Hide();
    for (const std::string& name : policy::StartUpPlaces()) Protect(AtHome(name));
    for (const std::string& name : policy::AgentNames()) Protect(AtHome(name));
    profile_.network = sources_.settings.network.value_or("hosts");
    profile_.hosts = Names(sources_.settings.hosts);
    SetLimits();
    profile_.dropped_variables.assign(kDropped.begin(), kDropped.end());
    profile_.dropped_variables.insert(profile_.dropped_variables.end(),
                                      sources_.secret_variables.begin(),
                                      sources_.secret_variables.end());
    return std::move(profile_);
  }

 private:
  static std::vector<std::string> Names(const config::Names& names) {
    return names.value_or(std::vector<std::string>());
  }
  [[nodiscard]] std::string AtHome(std::string_view name) const {
    return sources_.home.empty() ? "" : sources_.home + "/" + std::string(name);
  }

  /// What is there and can be written otherwise.
  void Protect(const std::string& path) {
    if (!path.empty() && Exists(path) && IsWritable(path)) profile_.read_only.push_back(path);
  }
  [[nodiscard]] bool IsWritable(const std::string& path) const {
    return std::ranges::any_of(profile_.writable, [&](const std::string& folder) {
      return path != folder && sandbox::Inside(path, folder);
    });
  }

  void AddRoot(const std::string& folder) {
    profile_.writable.push_back(folder);
    // Also where they do not exist yet: what is put there is obeyed later, outside. But who makes
    // a .stetignore shows nothing to anybody, and ours must be readable while a command runs.
    for (const std::string& name : policy::AgentNames()) {
      const std::string path = folder + "/" + name;
      if (name != ".stetignore" || Exists(path)) profile_.read_only.push_back(path);
    }
    const std::string git = folder + "/.git";
    const auto facts = StatFile(git);
    if (facts && facts->is_dir)
      Obeyed(git);
    else if (facts)
      AddWorktree(git);
  }

  void Obeyed(const std::string& git) {
    for (std::string& path : tool::ObeyedByGit(git)) profile_.read_only.push_back(std::move(path));
  }

  /// Makes the repository of a linked worktree writable. It must point back to the worktree: a .git
  /// file that merely names some folder does not make that folder writable.
  void AddWorktree(const std::string& link) {
    constexpr std::string_view kLead = "gitdir: ";
    const std::string line = FirstLineOfFile(link);
    if (!line.starts_with(kLead)) return;
    const std::filesystem::path base = std::filesystem::path(link).parent_path();
    const std::string own = RealPath(base / line.substr(kLead.size()));
    if (own.empty() || RealPath(FirstLineOfFile(own + "/gitdir")) != link) return;
    const std::string common =
        RealPath(std::filesystem::path(own) / FirstLineOfFile(own + "/commondir"));
    if (!sandbox::Inside(own, common + "/worktrees") || !Exists(common + "/objects")) return;
    profile_.writable.push_back(common);
    profile_.read_only.push_back(link);
    Obeyed(common);
    Protect(own + "/config.worktree");
  }

  void Hide() {
    profile_.hidden = {sources_.roots.config, sources_.roots.data, "/run", "/var/run"};
    for (const char* path : kSystemSecrets) profile_.hidden.emplace_back(path);
    for (const std::string& name : policy::KeyPlaces()) {
      if (!sources_.home.empty()) profile_.hidden.push_back(AtHome(name));
    }
    for (const char* name : {"SSH_AUTH_SOCK", "GNUPGHOME", "KUBECONFIG", "XAUTHORITY",
                             "AWS_SHARED_CREDENTIALS_FILE", "GOOGLE_APPLICATION_CREDENTIALS"}) {
      if (const std::string path = Variable(name); path.starts_with('/'))
        profile_.hidden.push_back(path);
    }
    // Where names are looked up is often told below /run.
    if (sources_.settings.network == "open") {
      const std::string names = RealPath("/etc/resolv.conf");
      if (sandbox::Inside(names, "/run")) profile_.read_only.push_back(names);
    }
  }

  void SetLimits() {
    const config::SandboxSettings& settings = sources_.settings;
    sandbox::Limits& limits = profile_.limits;
    limits.cpu_seconds = settings.cpu_seconds.value_or(0);
    limits.memory_bytes = settings.memory_mb.value_or(0) * kMega;
    limits.processes = settings.processes.value_or(kProcesses);
    limits.open_files = settings.open_files.value_or(0);
    limits.file_bytes = settings.file_mb.value_or(0) * kMega;
  }

  const ProfileSources& sources_;
  sandbox::Profile profile_;
};

}  // namespace

sandbox::Profile MakeProfile(const ProfileSources& sources) { return ProfileMaker(sources).Make(); }

agent::SandboxRules::Denied DeniedOf(const ProfileSources& sources) {
  agent::SandboxRules::Denied denied;
  if (sources.exclude && !sources.exclude->empty())
    denied.reading.push_back({sources.project, sources.exclude});
  for (const policy::ForbiddenFiles& files : sources.forbidden) {
    auto& to = files.reading ? denied.reading : denied.changing;
    to.push_back({files.folder, files.pattern.empty()
                                    ? nullptr
                                    : std::make_shared<const IgnoreFile>(files.pattern)});
  }
  return denied;
}

agent::SandboxRules MakeSandboxRules(const ProfileSources& sources) {
  using When = agent::SandboxRules::When;
  const config::SandboxSettings& settings = sources.settings;
  agent::SandboxRules rules;
  rules.when = !settings.enabled   ? When::kInAutoMode
               : *settings.enabled ? When::kAlways
                                   : When::kNever;
  // `required` implies `enabled`.
  if (settings.required.value_or(false)) rules.when = When::kAlways;
  rules.required = settings.required.value_or(false);
  if (rules.when != When::kNever) {
    rules.profile = MakeProfile(sources);
    rules.reads = MakeReadsProfile(rules.profile, {.home = sources.home, .path = Variable("PATH")});
  }
  rules.project = sources.project;
  rules.project_is_home = !sources.home.empty() && sandbox::Inside(sources.home, sources.project);
  rules.denied = DeniedOf(sources);
  return rules;
}

}  // namespace stet::device
