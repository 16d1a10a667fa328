#include "device/sandbox_run.h"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "agent/instructions.h"
#include "base/environment.h"
#include "base/fs.h"
#include "base/guard/here.h"
#include "config/settings.h"
#include "device/model_access.h"
#include "device/reads_profile.h"
#include "device/rules.h"
#include "device/sandbox_profile.h"
#include "policy/guarded.h"
#include "sandbox/support.h"
#include "tool/excluded.h"
#include "tool/project/look.h"

namespace stet::device {
namespace {

/// The keys of a terminal are meant for the command, which is in the same group.
class SignalsLeftToCommand {
 public:
  SignalsLeftToCommand() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  SignalsLeftToCommand(const SignalsLeftToCommand&) = delete;
  SignalsLeftToCommand& operator=(const SignalsLeftToCommand&) = delete;
  ~SignalsLeftToCommand() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_{};
  struct sigaction quit_{};
};

/// With our input, output and terminal. Its exit code, 128 and more when a signal ended it.
Result<int> RunHere(const protocol::SandboxRun& run, const sandbox::Confinement& confinement) {
  constexpr int kSignalBase = 128;
  std::error_code error;
  const guard::Order order{.command = run.command,
                           .environment = sandbox::KeptVariables(
                               Environment::OfProcess().variables(), confinement.profile()),
                           .cwd = std::filesystem::current_path(error).string(),
                           .box = confinement.order()};
  const SignalsLeftToCommand signals;
  ASSIGN_OR_RETURN(const guard::News end, guard::RunHere(order));
  switch (end.kind) {
    case guard::News::Kind::kExited: return end.value;
    case guard::News::Kind::kSignalled: return kSignalBase + end.value;
    case guard::News::Kind::kStarted:
    case guard::News::Kind::kFailed: break;
  }
  return FailSystem(end.value, "start " + run.command[0]);
}

Status Hide(const agent::SandboxRules::Denied& denied, sandbox::Profile& profile) {
  const tool::ExcludedPaths reading = tool::FindExcluded(denied.reading);
  const tool::ExcludedPaths changing = tool::FindExcluded(denied.changing);
  if (!reading.all || !changing.all)
    return Fail(Code::kUnsupported,
                "too much of the project is excluded to be hidden: exclude whole folders, or fewer "
                "files");
  profile.hidden.insert(profile.hidden.end(), reading.paths.begin(), reading.paths.end());
  profile.read_only.insert(profile.read_only.end(), changing.paths.begin(), changing.paths.end());
  return {};
}

/// As commands of sessions have it: what programs obey, wherever it stands in the project.
Status Guard(const std::string& project, sandbox::Profile& profile) {
  tool::Workspace workspace;
  workspace.project = project;
  workspace.guarded_names = policy::GuardedNames();
  tool::ProjectView view(project, workspace.guarded_names);
  ASSIGN_OR_RETURN(const auto scan, view.Look(CancelToken()));
  ASSIGN_OR_RETURN(const std::vector<std::string> places, tool::GuardedPlaces(workspace, *scan));
  profile.read_only.insert(profile.read_only.end(), places.begin(), places.end());
  if (Exists(project + "/.git")) return {};
  for (const char* name : {"/.git", "/HEAD"}) profile.read_only.push_back(project + name);
  return {};
}

Result<sandbox::Profile> ProfileHere(const config::Roots& roots, const protocol::SandboxRun& run) {
  ASSIGN_OR_RETURN(config::Settings settings, config::ReadSettings(roots.settings()));
  if (run.network) settings.sandbox.network = run.network;
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error);
  if (error) return Fail(Code::kNotFound, "the current folder is gone");
  const std::string root = agent::GitRoot(cwd);
  ProfileSources sources{.roots = roots,
                         .settings = settings.sandbox,
                         .project = root.empty() ? cwd : root,
                         .more_roots = {},
                         .home = ProcessEnvironment("HOME"),
                         .secret_variables = KeyVariables(settings)};
  for (const std::string& folder : run.write) {
    sources.more_roots.push_back(std::filesystem::canonical(folder, error));
    if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", folder));
  }
  ASSIGN_OR_RETURN(const policy::Rules rules, MakeRules({.roots = roots,
                                                         .settings = settings,
                                                         .own = config::Settings(),
                                                         .attach = protocol::Attach(),
                                                         .project = sources.project,
                                                         .kept_mode = ""}));
  sources.exclude = rules.unsearched;
  sources.forbidden = rules.forbidden;
  sandbox::Profile profile = MakeProfile(sources);
  RETURN_IF_ERROR(Hide(DeniedOf(sources), profile));
  if (run.box == "edits") profile.network = sandbox::network::kOff;
  if (run.box != "reads") {
    RETURN_IF_ERROR(Guard(sources.project, profile));
    return profile;
  }
  return MakeReadsProfile(profile, {.home = sources.home, .path = ProcessEnvironment("PATH")});
}

}  // namespace

Result<protocol::SandboxEnd> RunSandboxed(const config::Roots& roots,
                                          const protocol::SandboxRun& run) {
  if (run.network && run.box != "auto")
    return Fail(Code::kInvalid, fmt::format("the box {} has no network", run.box));
  if (run.network && !sandbox::IsNetwork(*run.network))
    return Fail(
        Code::kInvalid,
        fmt::format("there is no network {}: write off, loopback, hosts or open", *run.network));
  ASSIGN_OR_RETURN(sandbox::Profile profile, ProfileHere(roots, run));
  ASSIGN_OR_RETURN(
      const sandbox::Mechanism mechanism,
      sandbox::Choose(profile, run.box == "auto" ? sandbox::Need::kBest : sandbox::Need::kWhole));
  ASSIGN_OR_RETURN(const sandbox::Confinement confinement,
                   sandbox::Confinement::Make(std::move(profile), mechanism));
  protocol::SandboxEnd end;
  ASSIGN_OR_RETURN(end.exit_code, RunHere(run, confinement));
  end.mechanism = sandbox::MechanismName(mechanism);
  end.refused_hosts = confinement.RefusedHosts();
  return end;
}

}  // namespace stet::device
