#include "host/local_turns.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/resume.h"
#include "agent/turn.h"
#include "base/fs.h"
#include "host/model_access.h"
#include "host/session_store.h"
#include "log/log.h"
#include "protocol/ids.h"
#include "provider/catalogue.h"
#include "run/ledger.h"
#include "tool/builtin.h"

namespace stet::host {
namespace {

using protocol::Submission;
using protocol::TurnReport;

/// The environment variables that hold keys: no command that a model runs gets them.
std::vector<std::string> SecretVariables(const provider::Model& model) {
  std::vector<std::string> names;
  for (const provider::ProviderFacts& facts : provider::Providers())
    names.emplace_back(facts.key_variable);
  if (!model.key_variable.empty()) names.push_back(model.key_variable);
  return names;
}

Result<policy::Rules> RulesOf(const Submission& submission, const std::string& project) {
  policy::Rules rules;
  rules.project = project;
  if (!submission.mode.empty()) {
    const std::optional<policy::Mode> mode = policy::ModeFrom(submission.mode);
    if (!mode)
      return Fail(Code::kInvalid,
                  fmt::format("there is no permission mode {}: write default, acceptEdits, plan or "
                              "bypass",
                              submission.mode));
    rules.mode = *mode;
  }
  ASSIGN_OR_RETURN(rules.allow, policy::ParseRules(submission.allowed));
  ASSIGN_OR_RETURN(rules.deny, policy::ParseRules(submission.disallowed));
  return rules;
}

TurnReport ReportOf(const agent::TurnEnd& end) {
  TurnReport report;
  report.reason = end.reason;
  if (!end.error.empty()) report.error = end.error;
  if (end.failure) report.failure = std::string(provider::FailureName(*end.failure));
  report.text = end.text;
  report.steps = end.steps;
  for (const agent::Denial& denial : end.denials) {
    protocol::DenialRow& row = report.denials.emplace_back();
    row.tool_name = denial.tool;
    row.tool_call_id = denial.tool_call_id;
    row.args = denial.args;
    row.rule = denial.rule;
  }
  return report;
}

class LocalTurns final : public client::Turns {
 public:
  explicit LocalTurns(config::Roots roots) : roots_(std::move(roots)), store_(roots_) {}

  Result<TurnReport> Submit(const Submission& submission, const client::Watcher& watcher,
                            const CancelToken& cancel) override;

  Result<std::string> Latest(const std::string& cwd) override {
    ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> sessions, store_.List());
    const auto found = std::ranges::find(sessions, cwd, &protocol::SessionSummary::cwd);
    if (found == sessions.end())
      return Fail(Code::kNotFound, fmt::format("there is no session of {} to continue", cwd));
    return found->session_id;
  }

 private:
  Result<std::unique_ptr<log::Log>> OpenLog(const Submission& submission,
                                            const std::string& project,
                                            const provider::Model& model);

  config::Roots roots_;
  SessionStore store_;
};

Result<std::unique_ptr<log::Log>> LocalTurns::OpenLog(const Submission& submission,
                                                      const std::string& project,
                                                      const provider::Model& model) {
  log::Options options;
  options.mode = log::Mode::kWrite;
  ASSIGN_OR_RETURN(options.device_id, config::DeviceId(roots_));
  if (submission.session_id) {
    ASSIGN_OR_RETURN(const std::string id, store_.Resolve(*submission.session_id));
    return log::Log::Open(store_.DirOf(id), options);
  }
  protocol::Header header;
  header.session_id = protocol::NewSessionId(ProcessRandom());
  header.kind = "chat";
  header.meta.project_id = project;
  header.meta.cwd = submission.cwd;
  header.meta.model = model.FullName();
  RETURN_IF_ERROR(MakeDirs(roots_.sessions()));
  return log::Log::Create(store_.DirOf(header.session_id), header, options);
}

Result<TurnReport> LocalTurns::Submit(const Submission& submission, const client::Watcher& watcher,
                                      const CancelToken& cancel) {
  const auto begin = SystemClock().Steady();
  ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
  ASSIGN_OR_RETURN(provider::Selected selected,
                   provider::SelectModel(settings, submission.model, ProcessEnvironment));
  const provider::Model model = selected.access.model;
  const std::string git_root = agent::GitRoot(submission.cwd);
  tool::Workspace workspace;
  workspace.project = git_root.empty() ? submission.cwd : git_root;
  workspace.cwd = submission.cwd;
  workspace.context_window = model.context_window;
  ASSIGN_OR_RETURN(policy::Rules rules, RulesOf(submission, workspace.project));
  ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log,
                   OpenLog(submission, workspace.project, model));
  const log::Subscription subscription = log->Subscribe(
      [&](const log::Published& published) { watcher(published.event, published.transient); });
  RETURN_IF_ERROR(agent::SettleInterrupted(*log));

  Loop loop;
  ModelAccess access(loop);
  const std::optional<std::string> effort = submission.effort ? submission.effort : selected.effort;
  const std::unique_ptr<provider::Provider> provider = access.Open(std::move(selected));
  tool::Shells shells([](const tool::ShellEnd&) {});
  tool::Registry tools;
  for (std::unique_ptr<tool::Tool>& builtin :
       tool::BuiltinTools({.secret_variables = SecretVariables(model), .shells = shells}))
    RETURN_IF_ERROR(tools.Add(std::move(builtin)));
  agent::Workbench bench{
      .loop = loop,
      .log = *log,
      .model = *provider,
      .tools = tools,
      .workspace = workspace,
      .rules = std::move(rules),
      .instructions = {.cwd = submission.cwd,
                       .home = ProcessEnvironment("HOME"),
                       .user_instructions = roots_.config + "/AGENTS.md",
                       .appended = submission.append_system_prompt,
                       .context_window = model.context_window},
      .effort = effort,
      .max_steps = static_cast<int>(std::clamp<std::int64_t>(submission.max_steps, 0, 1'000'000))};
  protocol::Blocks content;
  protocol::TextBlock text;
  text.text = submission.text;
  content.emplace_back(std::move(text));
  agent::Turn turn(bench, cancel);
  ASSIGN_OR_RETURN(const agent::TurnEnd end, loop.RunTask(turn.Run(std::move(content))));
  TurnReport report = ReportOf(end);
  report.session_id = log->header().session_id;
  report.model = model.FullName();
  run::Ledger ledger;
  const std::vector<log::Entry>& entries = log->index().entries();
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    ASSIGN_OR_RETURN(const protocol::Event call, log->EventAt(event));
    if (call.stamp.turn_id == turn.id()) ledger.Take(call);
  }
  report.cost = ledger.Report("").total;
  report.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - begin).count();
  RETURN_IF_ERROR(log->Close());
  return report;
}

}  // namespace

std::unique_ptr<client::Turns> MakeLocalTurns(config::Roots roots) {
  return std::make_unique<LocalTurns>(std::move(roots));
}

}  // namespace stet::host
