#include "lane/open_lane.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/question.h"
#include "base/fs.h"
#include "config/settings.h"
#include "device/hook_sources.h"
#include "device/model_names.h"
#include "device/project_settings.h"
#include "device/rules.h"
#include "device/sandbox_profile.h"
#include "device/secret_values.h"
#include "device/trust.h"
#include "lane/file_history.h"
#include "lane/lane.h"
#include "lane/opening_options.h"
#include "lane/requests.h"
#include "lane/setup.h"
#include "log/clone.h"
#include "policy/guarded.h"
#include "policy/shell/auto.h"
#include "protocol/ids.h"
#include "provider/catalogue.h"
#include "store/own_mark.h"
#include "store/session_store.h"
#include "tool/git/programs.h"

namespace stet::lane {
namespace {

using protocol::Attach;

/// What commands and hooks are started with: no keys; and where the repository brings programs that
/// the user has not trusted, no hooks of git's.
Variables VariablesFor(std::shared_ptr<const Environment> environment,
                       std::vector<std::string> secrets, const protocol::TrustReport& trust) {
  const auto row = std::ranges::find(trust.parts, "git", &protocol::TrustRow::part);
  const bool off = row != trust.parts.end() && !row->what.empty() && !row->trusted;
  return [environment = std::move(environment), secrets = std::move(secrets), off] {
    std::vector<std::string> variables = environment->Without(secrets);
    return off ? tool::KeepGitHooksOff(std::move(variables)) : variables;
  };
}

/// Opens a session step by step; each step uses what the ones before found out.
class Opener {
 public:
  /// Without `use_index` the log of a session that is there already is scanned.
  Opener(const LaneRequest& request, bool use_index)
      : request_(request),
        roots_(request.roots),
        attach_(request.attach),
        store_(request.roots),
        use_index_(use_index) {}

  Result<std::unique_ptr<Lane>> Open(const LogOpened& opened);
  /// Of an opening that failed: the session that was made for it, in which nothing happened yet.
  void RemoveMade();

 private:
  Result<LaneSetup> Prepare();
  Status ReadSettings();
  [[nodiscard]] Result<policy::Rules> FindRules() const;
  /// The mode that the session had here; empty: none.
  [[nodiscard]] std::string KeptMode() const {
    return arrived_ ? "" : log_->index().state().info.mode.value_or("");
  }
  [[nodiscard]] agent::SessionSettings MakeSettings(const policy::Rules& rules,
                                                    const std::vector<std::string>& keys) const;
  [[nodiscard]] agent::InstructionSources FindInstructions(const policy::Rules& rules,
                                                           const tool::Workspace& workspace) const;
  LaneSetup MakeSetup(const policy::Rules& rules, std::vector<std::string> keys);
  Status NoteSettings(LaneSetup& setup) const;
  Status OpenLog();
  Status FindOwn();
  Result<std::unique_ptr<log::Log>> Make(const log::Options& options);
  [[nodiscard]] Result<std::string> NewId() const;
  Result<std::string> Fork(const std::string& session, const log::Options& options);
  Status FindModel();
  Status FindHooks(LaneSetup& setup) const;

  [[nodiscard]] provider::Environment Keys() const {
    return device::KeyLookup(roots_, request_.environment);
  }

  const LaneRequest& request_;
  const config::Roots& roots_;
  Attach attach_;
  store::SessionStore store_;
  bool use_index_;
  std::string project_;
  device::LayeredSettings layers_;
  config::Settings settings_;  // All layers of them.
  std::unique_ptr<log::Log> log_;
  bool fresh_ = false;
  agent::OwnEvents own_;  // What of the log is this device's.
  bool arrived_ = false;  // None of it is: nothing in it gives a right.
  std::string made_;      // The folder of a session that was made for this.
  provider::Selected model_;
};

Status Opener::FindModel() {
  std::string asked = attach_.model;
  if (asked.empty() && log_)
    asked = device::AskedFor(settings_,
                             log_->index().state().info.model.value_or(log_->header().meta.model));
  if (asked.empty() && request_.child != nullptr)
    asked = device::AskedFor(settings_, request_.child->meta.model);
  ASSIGN_OR_RETURN(model_, provider::SelectModel(settings_, asked, Keys()));
  const provider::Model& model = model_.access.model;
  if (attach_.max_price > 0 && !model.prices)
    return Fail(Code::kInvalid,
                fmt::format("{} has no known price: a budget could not be kept; limit the steps "
                            "or the time instead",
                            model.FullName()));
  if (attach_.fallback_model.empty()) return {};
  ASSIGN_OR_RETURN(provider::Selected fallback,
                   provider::SelectModel(settings_, attach_.fallback_model, Keys()));
  if (!fallback.offline()) model_.fallback = std::move(fallback.access);
  return {};
}

Status Opener::OpenLog() {
  log::Options options;
  options.mode = log::Mode::kWrite;
  options.use_index = use_index_;
  ASSIGN_OR_RETURN(options.device_id, config::DeviceId(roots_));
  if (settings_.log.durability == "relaxed") options.durability = log::Durability::kRelaxed;
  if (!attach_.session_id) {
    // The model first: a session is not made for a model that cannot be asked.
    RETURN_IF_ERROR(FindModel());
    ASSIGN_OR_RETURN(own_.key, config::DeviceKey(roots_));
    ASSIGN_OR_RETURN(log_, Make(options));
    fresh_ = true;
    own_.since = 1;
    return store::MarkOwn(log_->paths(), own_.since, own_.key);
  }
  ASSIGN_OR_RETURN(std::string id, store_.Resolve(*attach_.session_id));
  ASSIGN_OR_RETURN(own_.key, config::DeviceKey(roots_));
  if (attach_.fork) {
    ASSIGN_OR_RETURN(id, Fork(id, options));
  }
  ASSIGN_OR_RETURN(const std::string dir, store_.Find(id));
  ASSIGN_OR_RETURN(log_, log::Log::Open(dir, options));
  RETURN_IF_ERROR(FindOwn());
  return FindModel();
}

/// Of a log that comes from elsewhere, what is appended from now on. The mark follows when the lane
/// is open, behind what takes the log's modes and queues out of force.
Status Opener::FindOwn() {
  const std::optional<std::uint64_t> since = store::OwnSince(log_->paths(), own_.key);
  arrived_ = !since;
  own_.since = since.value_or(log_->last_seq() + 1);
  return {};
}

Result<std::string> Opener::Fork(const std::string& session, const log::Options& options) {
  ASSIGN_OR_RETURN(std::string copy, NewId());
  ASSIGN_OR_RETURN(const std::string dir, store_.Find(session));
  const std::string made = store_.NewDir(copy);
  RETURN_IF_ERROR(log::ReadLog(dir, [&](log::Log& origin) {
    return log::Clone(origin, attach_.at, {made, copy, options.device_id}, options);
  }));
  made_ = made;
  RETURN_IF_ERROR(store::MarkCopy({dir}, {made}, own_.key));
  return copy;
}

Result<std::string> Opener::NewId() const {
  std::string id = attach_.new_session_id.value_or(protocol::NewSessionId(ProcessRandom()));
  if (!protocol::IsSessionId(id))
    return Fail(Code::kInvalid, fmt::format("{} cannot name a session", id));
  return id;
}

Result<std::unique_ptr<log::Log>> Opener::Make(const log::Options& options) {
  protocol::Header header;
  header.kind = "chat";
  if (request_.child != nullptr) header = *request_.child;
  ASSIGN_OR_RETURN(header.session_id, NewId());
  std::string dir = store_.NewDir(header.session_id);
  if (header.parent_session_id) {
    ASSIGN_OR_RETURN(store::SessionPlace place,
                     store_.NewChild(*header.parent_session_id, header.session_id));
    header.root_session_id = place.root_id;
    dir = std::move(place.dir);
  }
  const std::string root = agent::GitRoot(attach_.cwd);
  header.meta.project_id = root.empty() ? attach_.cwd : root;
  header.meta.cwd = attach_.cwd;
  header.meta.model = model_.access.model.FullName();
  RETURN_IF_ERROR(MakeDirs(header.parent_session_id ? ParentDir(dir) : roots_.sessions()));
  Result<std::unique_ptr<log::Log>> log = log::Log::Create(dir, header, options);
  if (log) made_ = std::move(dir);
  return log;
}

/// And extensions. A project's own only when it is trusted.
Status Opener::FindHooks(LaneSetup& setup) const {
  const protocol::TrustReport& trust = layers_.trust;
  ASSIGN_OR_RETURN(setup.hooks,
                   device::CollectHooks({.user = settings_,
                                         .user_file = roots_.settings(),
                                         .project_file = project_ + "/.stet/config.toml",
                                         .trusted_hooks = device::Trusts(trust, "hooks")}));
  const device::ExtensionSources sources = device::ExtensionsOf(roots_, project_, settings_, trust);
  hook::FoundExtensions found =
      hook::FindExtensions(device::ExtensionFolders(sources), sources.disabled);
  setup.extensions = std::move(found.manifests);
  for (const std::string& problem : found.problems)
    setup.notes.push_back("an extension is left out: " + problem);
  return {};
}

/// What stands in files: which project this is, and how it is worked on there.
Status Opener::ReadSettings() {
  const std::string root = agent::GitRoot(attach_.cwd);
  project_ = root.empty() ? attach_.cwd : root;
  ASSIGN_OR_RETURN(layers_, device::ReadLayeredSettings(roots_, project_));
  settings_ = layers_.all;
  return {};
}

Result<policy::Rules> Opener::FindRules() const {
  ASSIGN_OR_RETURN(policy::Rules rules, device::MakeRules({.roots = roots_,
                                                           .settings = settings_,
                                                           .own = layers_.own,
                                                           .attach = attach_,
                                                           .project = project_,
                                                           .kept_mode = KeptMode()}));
  rules.trusts_git = device::Trusts(layers_.trust, "git");
  return rules;
}

/// What the user asked for now, else what the session kept, else what the files say.
agent::SessionSettings Opener::MakeSettings(const policy::Rules& rules,
                                            const std::vector<std::string>& keys) const {
  const protocol::InfoChanges& kept = log_->index().state().info;
  agent::SessionSettings made{
      .model = model_,
      .effort = attach_.effort ? attach_.effort
                : kept.effort  ? kept.effort
                               : model_.effort,
      .rules = rules,
      .sandbox = device::MakeSandboxRules({.roots = roots_,
                                           .settings = settings_.sandbox,
                                           .project = project_,
                                           .more_roots = rules.more_roots,
                                           .home = device::ProcessEnvironment("HOME"),
                                           .secret_variables = keys,
                                           .exclude = rules.unsearched,
                                           .forbidden = rules.forbidden}),
      .limits = {.max_steps = attach_.max_steps,
                 .max_price = attach_.max_price,
                 .max_tokens = attach_.max_tokens,
                 .max_ms = attach_.max_ms},
      .context = {.auto_compact = settings_.context.auto_compact.value_or(true),
                  .threshold_permille = settings_.threshold_permille,
                  .result_budget = settings_.context.result_budget.value_or(0),
                  .session_memory = settings_.context.session_memory.value_or(true)},
      .task_end_starts_turn = settings_.tools.task_end_starts_turn.value_or(true)};
  // Without its key the session simply has no title.
  if (settings_.roles.contains("auxiliary")) {
    if (Result<provider::Selected> auxiliary = provider::SelectRole(settings_, "auxiliary", Keys()))
      made.auxiliary = *std::move(auxiliary);
  }
  return made;
}

agent::InstructionSources Opener::FindInstructions(const policy::Rules& rules,
                                                   const tool::Workspace& workspace) const {
  return {.cwd = attach_.cwd,
          .home = device::ProcessEnvironment("HOME"),
          .user_instructions = roots_.config + "/AGENTS.md",
          .appended = attach_.append_system_prompt,
          .baseline = attach_.system_prompt,
          .fallback = settings_.instructions.fallback.value_or(std::vector<std::string>()),
          .context_window = model_.access.model.context_window,
          .may_read = [rules, workspace](const std::string& path) {
            return agent::MayReadUnasked(rules, workspace, path);
          }};
}

/// Hands the log over.
LaneSetup Opener::MakeSetup(const policy::Rules& rules, std::vector<std::string> keys) {
  const auto settings = std::make_shared<const config::Settings>(settings_);
  agent::SessionSettings worked = MakeSettings(rules, keys);
  tool::Workspace workspace = {
      .project = project_,
      .cwd = attach_.cwd,
      .context_window = model_.access.model.context_window,
      .exclude = rules.unsearched,
      .secret_names = policy::SecretNames(),
      .guarded_names = policy::GuardedNames(),
      .expendable = settings_.undo.expendable.value_or(policy::DerivedFolders()),
      .view = nullptr};
  agent::InstructionSources instructions = FindInstructions(rules, workspace);
  const bool undo =
      settings_.undo.enabled.value_or(true) && !worked.sandbox.project_is_home && project_ != "/";
  std::shared_ptr<tool::Checkpoints> checkpoints =
      undo ? MakeCheckpoints(roots_, *log_, own_.since) : nullptr;
  return {.loop = request_.loop,
          .models = request_.models,
          .log = std::move(log_),
          .settings = std::move(worked),
          .own = own_,
          .arrived = arrived_,
          .instructions = std::move(instructions),
          .workspace = std::move(workspace),
          .checkpoints = std::move(checkpoints),
          .tools = {.only = attach_.tools,
                    .disabled = settings_.tools.disabled.value_or(std::vector<std::string>())},
          .output_schema = attach_.output_schema,
          .variables = VariablesFor(request_.environment, keys, layers_.trust),
          .hidden = std::move(keys),
          .private_hosts = settings_.tools.private_hosts.value_or(std::vector<std::string>()),
          .answers = attach_.answers,
          .keep_waiting = !attach_.at,
          .fresh = fresh_,
          .woken = request_.woken,
          .redactor = {},
          .kept_rules = device::KeptRulesOf(roots_, project_),
          .prime = [settings](agent::Workbench& bench) { PrimeRequests(bench, *settings); },
          .select =
              [settings, keys = Keys()](const std::string& asked) {
                return provider::SelectModel(*settings, asked, keys);
              }};
}

Result<LaneSetup> Opener::Prepare() {
  RETURN_IF_ERROR(ReadSettings());
  RETURN_IF_ERROR(OpenLog());
  if (request_.keeps_denials)
    attach_.disallowed =
        BothDisallowed(log_->index().state().info.disallowed.value_or(""), attach_.disallowed);
  ASSIGN_OR_RETURN(const policy::Rules rules, FindRules());
  std::vector<std::string> keys = device::KeyVariables(settings_);
  if (const std::string& key = model_.access.model.key_variable; !key.empty()) keys.push_back(key);
  LaneSetup setup = MakeSetup(rules, std::move(keys));
  setup.find_redactor = [roots = roots_,
                         settings = std::make_shared<const config::Settings>(settings_),
                         environment = request_.environment, names = setup.hidden] {
    return device::RedactorOf({.roots = roots,
                               .settings = *settings,
                               .environment = *environment,
                               .key_variables = names});
  };
  ASSIGN_OR_RETURN(setup.redactor, setup.find_redactor());
  const std::string kept = arrived_ ? "" : setup.log->index().state().info.mode.value_or("");
  if (attach_.mode.empty() && kept == policy::ModeName(policy::Mode::kBypass))
    setup.notes.emplace_back("the mode bypass does not outlive its opening: the mode is default");
  if (std::string note = device::TrustNote(layers_.trust); !note.empty())
    setup.notes.push_back(std::move(note));
  if (fresh_) {
    for (const std::string& unused : agent::UnusedInstructions(setup.instructions))
      setup.notes.push_back("an instruction file is not used: " + unused);
  }
  RETURN_IF_ERROR(FindHooks(setup));
  return setup;
}

/// A session keeps how it is worked on, so that a resume does not silently follow edits.
Status Opener::NoteSettings(LaneSetup& setup) const {
  const protocol::InfoChanges& kept = setup.log->index().state().info;
  protocol::SessionInfo info;
  const std::string model = setup.settings.model.access.model.FullName();
  if (model != kept.model.value_or(setup.log->header().meta.model)) info.changes.model = model;
  if (setup.settings.effort && setup.settings.effort != kept.effort)
    info.changes.effort = setup.settings.effort;
  const std::string mode(policy::ModeName(setup.settings.rules.mode));
  if (mode != kept.mode.value_or("default")) info.changes.mode = mode;
  // A mode that outlives its opening must not lose what the same opening forbade.
  if (attach_.disallowed != kept.disallowed.value_or(""))
    info.changes.disallowed = attach_.disallowed;
  if (info.changes == protocol::InfoChanges()) return {};
  return agent::AppendEvent(*setup.log, std::move(info), {});
}

Result<std::unique_ptr<Lane>> Opener::Open(const LogOpened& opened) {
  ASSIGN_OR_RETURN(LaneSetup setup, Prepare());
  opened(*setup.log);
  RETURN_IF_ERROR(NoteSettings(setup));
  ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, Lane::Open(std::move(setup)));
  if (arrived_) RETURN_IF_ERROR(store::MarkOwn(lane->log().paths(), own_.since, own_.key));
  if (attach_.at && !attach_.fork) RETURN_IF_ERROR(lane->Rewind(attach_.at));
  return lane;
}

void Opener::RemoveMade() {
  // Else it would be the newest session, and the next one to go on with.
  log_.reset();
  if (!made_.empty()) (void)RemoveTree(made_);
}

}  // namespace

Result<std::unique_ptr<Lane>> OpenLane(const LaneRequest& request, const LogOpened& opened) {
  const auto open = [&](bool use_index) {
    Opener opener(request, use_index);
    Result<std::unique_ptr<Lane>> lane = opener.Open(opened);
    if (!lane) opener.RemoveMade();
    return lane;
  };
  Result<std::unique_ptr<Lane>> lane = open(/*use_index=*/true);
  const bool may_be_hidden = !lane && lane.error().code == Code::kCorrupt;
  // What is damaged and not of the log is met again.
  return may_be_hidden && request.attach.session_id ? open(/*use_index=*/false) : std::move(lane);
}

}  // namespace stet::lane
