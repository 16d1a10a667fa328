// What clients change about a session beside sending to it.
#include <algorithm>

#include <fmt/format.h>

#include "agent/resume.h"
#include "host/lane.h"
#include "host/restore.h"
#include "host/rules.h"

namespace stet::host {

Status Lane::RewriteQueue(const std::string& queue, const protocol::QueueItems& items) {
  if (queue != "follow_up" && queue != "steer")
    return Fail(Code::kInvalid, fmt::format("there is no queue {}", queue));
  const log::SessionState& state = setup_.log->index().state();
  const protocol::QueueItems& before = queue == "steer" ? state.steers : state.follow_ups;
  for (const protocol::QueueItem& item : items) {
    if (std::ranges::find(before, item.item_id, &protocol::QueueItem::item_id) == before.end())
      return Fail(Code::kConflict,
                  fmt::format("{} is no longer queued: it was taken or removed", item.item_id));
  }
  protocol::QueueUpdate update;
  update.queue = queue;
  update.items = items;
  return agent::AppendEvent(*setup_.log, std::move(update), {});
}

Result<protocol::PermissionReport> Lane::Permissions() const {
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
    }
  };
  add("hard", rules.hard);
  add("deny", rules.deny);
  add("ask", rules.ask);
  add("allow", rules.allow);
  return report;
}

Status Lane::Change(const protocol::Change& change) {
  if (change.effort && !provider::IsEffort(*change.effort))
    return Fail(Code::kInvalid, fmt::format("there is no effort {}", *change.effort));
  std::optional<policy::Mode> mode;
  if (change.mode) {
    mode = policy::ModeFrom(*change.mode);
    if (!mode) return Fail(Code::kInvalid, fmt::format("there is no mode {}", *change.mode));
    if (*mode == policy::Mode::kBypass) RETURN_IF_ERROR(MayBypass());
  }
  if (change.model) {
    ASSIGN_OR_RETURN(next_model_, setup_.select(*change.model));
  }
  if (change.effort) next_effort_ = change.effort;
  protocol::SessionInfo info;
  info.changes.title = change.title;
  if (mode) {
    bench_.settings.SetMode(*mode);
    info.changes.mode = std::string(policy::ModeName(*mode));
  }
  if (info.changes.title || info.changes.mode)
    RETURN_IF_ERROR(agent::AppendEvent(*setup_.log, std::move(info), {}));
  return working() ? Status() : ApplyChanges();
}

/// Model and effort change between turns: a turn is one model's work.
Status Lane::ApplyChanges() {
  if (!next_model_ && !next_effort_) return {};
  protocol::SessionInfo info;
  if (next_model_) {
    if (next_model_->effort && !next_effort_) next_effort_ = next_model_->effort;
    bench_.settings.SetModel(*std::move(next_model_));
    provider_ = setup_.models.Open(bench_.settings->model);
    bench_.model = provider_.get();
    bench_.workspace.context_window = provider_->model().context_window;
    tools_.UseWindow(provider_->model().context_window);
    bench_.fixed_bytes = 0;  // The tools may be others now.
    info.changes.model = provider_->model().FullName();
  }
  if (next_effort_) {
    bench_.settings.SetEffort(*next_effort_);
    info.changes.effort = next_effort_;
  }
  next_model_.reset();
  next_effort_.reset();
  RETURN_IF_ERROR(agent::AppendEvent(*setup_.log, std::move(info), {}));
  // A session without instructions has sent nothing: its first toolset comes with them.
  return opening_.snapshot ? agent::KeepToolset(bench_, {}) : Status();
}

Status Lane::AtRest() {
  if (!working()) return {};
  return Fail(Code::kBusy, "a turn is under way: cancel it first, or wait for its end");
}

/// The leaf was moved: what was remembered of the old path is forgotten.
Status Lane::Moved() {
  bench_.files.reset();
  verified_ = false;
  pins_unsure_ = true;
  opening_.last_end.clear();
  return {};
}

Result<client::Moved> Lane::Rewind(const std::optional<std::string>& target) {
  RETURN_IF_ERROR(AtRest());
  client::Moved moved;
  moved.old_leaf = setup_.log->leaf_id();
  RETURN_IF_ERROR(setup_.log->Rewind(target, moved.old_leaf));
  moved.new_leaf = setup_.log->leaf_id();
  RETURN_IF_ERROR(Moved());
  return moved;
}

Result<client::Moved> Lane::Branch(const std::string& leaf) {
  RETURN_IF_ERROR(AtRest());
  client::Moved moved;
  moved.old_leaf = setup_.log->leaf_id();
  RETURN_IF_ERROR(setup_.log->Branch(leaf, moved.old_leaf));
  moved.new_leaf = setup_.log->leaf_id();
  RETURN_IF_ERROR(Moved());
  ASSIGN_OR_RETURN(const agent::Opening opening, agent::ReadOpening(*setup_.log));
  RETURN_IF_ERROR(agent::SettleInterrupted(*setup_.log, opening, false));
  return moved;
}

Result<protocol::FileRows> Lane::FilesSince(const std::optional<std::string>& target,
                                            bool restore) {
  if (restore) RETURN_IF_ERROR(AtRest());
  return host::FilesSince(*setup_.log, target, restore);
}

Result<std::vector<protocol::Event>> Lane::Recent(std::size_t count) const {
  std::vector<protocol::Event> events;
  const log::Index& index = setup_.log->index();
  for (log::Ordinal at = index.leaf(); at != log::kNone && events.size() < count;
       at = index.entries()[at].parent) {
    ASSIGN_OR_RETURN(protocol::Event event, setup_.log->EventAt(at));
    events.push_back(std::move(event));
  }
  std::ranges::reverse(events);
  return events;
}

}  // namespace stet::host
