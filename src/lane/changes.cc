#include "lane/changes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/session_tools.h"
#include "agent/settings.h"
#include "agent/workbench.h"
#include "base/random.h"
#include "device/model_access.h"
#include "device/rules.h"
#include "protocol/ids.h"
#include "provider/provider.h"

namespace stet::lane {

namespace {

/// Given in answer to a question, and kept by stet itself.
bool IsGrant(const policy::Rule& rule) {
  using policy::Source;
  return rule.exact && (rule.source == Source::kSession || rule.source == Source::kLocal ||
                        rule.source == Source::kUser);
}

}  // namespace

LaneChanges::LaneChanges(agent::Workbench& bench, device::ModelAccess& models, Select select)
    : bench_(bench), models_(models), select_(std::move(select)) {
  provider_ = models_.Open(bench_.settings->model);
  bench_.model = provider_.get();
  if (bench_.settings->auxiliary) {
    auxiliary_ = models_.Open(*bench_.settings->auxiliary);
    bench_.auxiliary = auxiliary_.get();
  }
}

LaneChanges::~LaneChanges() = default;

protocol::PermissionReport LaneChanges::Permissions() const {
  protocol::PermissionReport report;
  const agent::SessionSettings& settings = *bench_.settings;
  const policy::Rules& rules = settings.rules;
  report.mode = policy::ModeName(rules.mode);
  report.excludes = rules.exclude && !rules.exclude->empty();
  report.sandboxed = agent::IsBoxed(settings.sandbox, rules.mode);
  const auto add = [&](std::string_view verdict, const std::vector<policy::Rule>& list) {
    for (const policy::Rule& rule : list) {
      protocol::RuleRow& row = report.rules.emplace_back();
      row.verdict = verdict;
      row.rule = policy::RuleText(rule);
      row.source = policy::SourceName(rule.source);
      if (bench_.kept_rules.file) row.file = bench_.kept_rules.file(rule);
      row.granted = IsGrant(rule);
    }
  };
  add("hard", rules.hard);
  add("deny", rules.deny);
  add("ask", rules.ask);
  add("allow", rules.allow);
  return report;
}

Status LaneChanges::Change(const protocol::Change& change) {
  if (change.effort && !provider::IsEffort(*change.effort))
    return Fail(Code::kInvalid, fmt::format("there is no effort {}", *change.effort));
  std::optional<policy::Mode> mode;
  if (change.mode) {
    mode = policy::ModeFrom(*change.mode);
    if (!mode) return Fail(Code::kInvalid, fmt::format("there is no mode {}", *change.mode));
    if (*mode == policy::Mode::kBypass) RETURN_IF_ERROR(device::MayBypass());
  }
  std::optional<provider::Selected> model;
  if (change.model) {
    ASSIGN_OR_RETURN(model, select_(*change.model));
  }
  if (change.forget) RETURN_IF_ERROR(Forget(*change.forget));
  protocol::SessionInfo info;
  info.changes.title = change.title;
  if (mode) info.changes.mode = std::string(policy::ModeName(*mode));
  if (info.changes.title || info.changes.mode)
    RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(info), {}));
  // Only now: a mode that the log does not have must not let anything run.
  if (mode) bench_.settings.SetMode(*mode);
  if (model) next_model_ = std::move(model);
  if (change.effort) next_effort_ = change.effort;
  return {};
}

/// The log says so first: a grant that it still has would hold again at the next opening.
Status LaneChanges::Forget(const std::string& text) {
  const std::vector<policy::Rule>& rules = bench_.settings->rules.allow;
  const auto same = [&](const policy::Rule& rule) { return policy::RuleText(rule) == text; };
  const auto found = std::ranges::find_if(rules, same);
  if (found == rules.end())
    return Fail(Code::kNotFound, fmt::format("there is no rule {} that allows", text));
  if (!IsGrant(*found)) {
    const std::string file = bench_.kept_rules.file ? bench_.kept_rules.file(*found) : "";
    return Fail(Code::kConflict,
                file.empty()
                    ? fmt::format("{} was given by {}", text, policy::SourceName(found->source))
                    : fmt::format("{} stands in {}: take it out there", text, file));
  }
  protocol::Permission withdrawn;
  withdrawn.request_id = protocol::NewRequestId(ProcessRandom());
  withdrawn.phase = protocol::phase::kWithdrawn;
  withdrawn.rule = text;
  RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(withdrawn), {}));
  bench_.settings.Forget([&](const policy::Rule& rule) { return IsGrant(rule) && same(rule); });
  return bench_.kept_rules.forget ? bench_.kept_rules.forget(text) : Status();
}

Status LaneChanges::Apply() {
  if (!next_model_ && !next_effort_) return {};
  std::optional<std::string> effort = next_effort_;
  protocol::SessionInfo info;
  if (next_model_) {
    if (!effort) effort = next_model_->effort;
    info.changes.model = next_model_->access.model.FullName();
  }
  info.changes.effort = effort;
  // What the log does not take waits for the next time: a log says which model wrote what.
  RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(info), {}));
  if (next_model_) UseModel(*std::exchange(next_model_, std::nullopt));
  if (effort) bench_.settings.SetEffort(*std::move(effort));
  next_effort_.reset();
  // A session without instructions has sent nothing: its first toolset comes with them.
  return bench_.cache_key.empty() ? Status() : agent::KeepToolset(bench_, {});
}

void LaneChanges::UseModel(provider::Selected model) {
  bench_.settings.SetModel(std::move(model));
  provider_ = models_.Open(bench_.settings->model);
  bench_.model = provider_.get();
  const std::int64_t window = provider_->model().context_window;
  bench_.workspace.context_window = window;
  bench_.tools.UseWindow(window);
  bench_.fixed_bytes = 0;  // The tools may be others now.
}

}  // namespace stet::lane
