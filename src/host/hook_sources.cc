#include "host/hook_sources.h"

#include <fmt/format.h>

namespace stet::host {
namespace {

void AddRows(const config::HookList& hooks, const std::string& file, bool active,
             protocol::HookRows& rows) {
  for (const config::HookSettings& hook : hooks) {
    protocol::HookRow& row = rows.emplace_back();
    row.event = hook.event;
    row.matcher = hook.matcher;
    row.type = config::HookKindName(hook.kind);
    row.what = hook.what;
    row.timeout = hook.timeout;
    row.source = fmt::format("{}:{}", file, hook.line);
    row.active = active;
  }
}

}  // namespace

Result<std::vector<hook::Hook>> CollectHooks(const HookSources& sources) {
  std::vector<hook::Hook> hooks;
  RETURN_IF_ERROR(hook::AddHooks(sources.user.hooks, sources.user_file, hooks));
  if (!sources.trusted_hooks) return hooks;
  ASSIGN_OR_RETURN(const config::Settings project, config::ReadSettings(sources.project_file));
  RETURN_IF_ERROR(hook::AddHooks(project.hooks, sources.project_file, hooks));
  return hooks;
}

Result<protocol::HookRows> ListHooks(const HookSources& sources) {
  protocol::HookRows rows;
  AddRows(sources.user.hooks, sources.user_file, true, rows);
  ASSIGN_OR_RETURN(const config::Settings project, config::ReadSettings(sources.project_file));
  AddRows(project.hooks, sources.project_file, sources.trusted_hooks, rows);
  return rows;
}

}  // namespace stet::host
