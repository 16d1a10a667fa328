#include "device/hook_sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "device/trust.h"

namespace stet::device {
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

protocol::ExtensionRow RowOf(const hook::ExtensionManifest& manifest) {
  protocol::ExtensionRow row;
  row.id = manifest.id;
  row.name = manifest.name;
  row.version = manifest.version;
  row.source = manifest.folder;
  for (const hook::ExtensionTool& tool : manifest.tools) row.tools.push_back(tool.name);
  for (const hook::ExtensionCommand& command : manifest.commands)
    row.commands.push_back("/" + command.name);
  row.events = manifest.events;
  row.intercepts = manifest.intercepts;
  return row;
}

}  // namespace

ExtensionSources ExtensionsOf(const config::Roots& roots, const std::string& project,
                              const config::Settings& user, const protocol::TrustReport& trust) {
  return {.user_folder = roots.config + "/extensions",
          .project_folder = project + "/.stet/extensions",
          .trusted = Trusts(trust, "extensions"),
          .disabled = user.extensions.disabled.value_or(std::vector<std::string>())};
}

std::vector<std::string> ExtensionFolders(const ExtensionSources& sources) {
  std::vector<std::string> folders = {sources.user_folder};
  if (sources.trusted) folders.push_back(sources.project_folder);
  return folders;
}

protocol::ExtensionRows ListExtensions(const ExtensionSources& sources) {
  const hook::FoundExtensions used =
      hook::FindExtensions(ExtensionFolders(sources), sources.disabled);
  protocol::ExtensionRows rows;
  for (const std::string& folder : {sources.user_folder, sources.project_folder}) {
    const bool own = folder == sources.project_folder;
    const hook::FoundExtensions found = hook::FindExtensions({folder}, {});
    for (const hook::ExtensionManifest& manifest : found.manifests) {
      protocol::ExtensionRow& row = rows.emplace_back(RowOf(manifest));
      row.trusted = !own || sources.trusted;
      row.disabled = std::ranges::find(sources.disabled, row.id) != sources.disabled.end();
      row.active = std::ranges::any_of(used.manifests, [&](const hook::ExtensionManifest& one) {
        return one.folder == manifest.folder;
      });
    }
    for (const std::string& problem : found.problems) {
      protocol::ExtensionRow& row = rows.emplace_back();
      row.source = folder;
      row.trusted = !own || sources.trusted;
      row.problem = problem;
    }
  }
  return rows;
}

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

}  // namespace stet::device
