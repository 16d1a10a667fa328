#include "hook/extension/manifest.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/fs.h"
#include "config/toml.h"
#include "json/describe.h"
#include "json/view.h"

namespace stet::hook {
namespace {

constexpr std::size_t kMaxManifest = std::size_t{256} << 10;
constexpr std::size_t kMaxEntries = 64;
constexpr std::int64_t kMaxTimeout = 600;

using Text = std::string;
using Texts = std::vector<std::string>;
using Int = std::optional<std::int64_t>;
using OptionalText = std::optional<std::string>;

struct ToolTable {
  STET_FIELDS(ToolTable, (Text, name), (Text, description), (Text, schema))
};
struct CommandTable {
  STET_FIELDS(CommandTable, (Text, name), (Text, description))
};
using ToolTables = std::vector<ToolTable>;
using CommandTables = std::vector<CommandTable>;

struct Table {
  STET_FIELDS(Table,
              (Text, id),
              (Text, name),
              (Text, version),
              (Texts, command),
              (Int, timeout),
              (OptionalText, fail),
              (ToolTables, tools),
              (CommandTables, commands),
              (Texts, events),
              (Texts, intercepts))
};

/// Letters, digits and what joins them.
bool IsName(std::string_view text, std::string_view joints) {
  constexpr std::size_t kMaxName = 64;
  return !text.empty() && text.size() <= kMaxName && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           joints.contains(c);
  });
}

std::unexpected<Error> Wrong(std::string_view name, std::string_view what) {
  return Fail(Code::kInvalid, fmt::format("{}: {}", name, what));
}

Status CheckTable(const Table& table, std::string_view name) {
  constexpr std::array kIntercepts = {intercept::kBeforeToolCall, intercept::kAfterToolCall,
                                      intercept::kTransformContext, intercept::kConvertToLlm};
  if (!table.extra.empty()) return Wrong(name, "it has a key that is not one of a manifest's");
  if (!IsName(table.id, "-_")) return Wrong(name, "id must be letters, digits, - and _");
  if (table.command.empty() || table.command[0].empty())
    return Wrong(name, "command must be a list of a program and its arguments");
  const std::string fail = table.fail.value_or("open");
  if (fail != "open" && fail != "closed") return Wrong(name, "fail must be open or closed");
  const std::int64_t timeout = table.timeout.value_or(1);
  if (timeout < 1 || timeout > kMaxTimeout)
    return Wrong(name, fmt::format("timeout must be from 1 to {} seconds", kMaxTimeout));
  if (table.tools.size() > kMaxEntries || table.commands.size() > kMaxEntries)
    return Wrong(name, fmt::format("it registers more than {} of a kind", kMaxEntries));
  for (const ToolTable& tool : table.tools) {
    if (!tool.extra.empty() || !IsName(tool.name, "_-") || tool.description.empty() ||
        !JsonView(tool.schema).is_object())
      return Wrong(name, fmt::format("the tool {} must have a name, a description and a schema "
                                     "that is JSON",
                                     tool.name));
  }
  for (const CommandTable& command : table.commands) {
    const bool letters =
        std::ranges::all_of(command.name, [](char c) { return c >= 'a' && c <= 'z'; });
    if (!command.extra.empty() || !letters || !IsName(command.name, ""))
      return Wrong(name,
                   fmt::format("the command {} must have a name of small letters", command.name));
  }
  for (const std::string& what : table.intercepts) {
    if (std::ranges::find(kIntercepts, what) == kIntercepts.end())
      return Wrong(name, fmt::format("there is nothing to intercept that is called {}", what));
  }
  return {};
}

/// The folders below `folder` that have a manifest, by name.
std::vector<std::string> ManifestsIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string manifest = at->path().string() + "/extension.toml";
    if (Exists(manifest)) found.push_back(manifest);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

bool ExtensionManifest::Intercepts(std::string_view what) const {
  return std::ranges::find(intercepts, what) != intercepts.end();
}

bool ExtensionManifest::Hears(std::string_view event) const {
  return std::ranges::any_of(events,
                             [&](const std::string& one) { return one == event || one == "*"; });
}

Result<ExtensionManifest> ParseManifest(std::string_view toml, std::string_view name) {
  ASSIGN_OR_RETURN(const config::TomlText text, config::ReadToml(toml, name));
  Result<Table> table = Decode<Table>(text.json);
  if (!table) return Wrong(name, "a value is of the wrong kind: " + table.error().message);
  RETURN_IF_ERROR(CheckTable(*table, name));
  ExtensionManifest manifest;
  manifest.id = table->id;
  manifest.name = table->name.empty() ? table->id : table->name;
  manifest.version = table->version;
  manifest.command = std::move(table->command);
  manifest.timeout = table->timeout.value_or(manifest.timeout);
  manifest.fail_closed = table->fail == "closed";
  for (const ToolTable& tool : table->tools)
    manifest.tools.push_back({tool.name, tool.description, tool.schema});
  for (const CommandTable& command : table->commands)
    manifest.commands.push_back({command.name, command.description});
  manifest.events = std::move(table->events);
  manifest.intercepts = std::move(table->intercepts);
  return manifest;
}

FoundExtensions FindExtensions(const std::vector<std::string>& folders,
                               const std::vector<std::string>& disabled) {
  FoundExtensions found;
  std::map<std::string, ExtensionManifest> by_id;
  for (const std::string& folder : folders) {
    for (const std::string& file : ManifestsIn(folder)) {
      const Result<std::string> text = ReadFile(file, kMaxManifest);
      Result<ExtensionManifest> manifest =
          text ? ParseManifest(*text, file) : std::unexpected(text.error());
      if (!manifest) {
        found.problems.push_back(manifest.error().Text());
        continue;
      }
      manifest->folder = file.substr(0, file.rfind('/'));
      if (manifest->folder.substr(manifest->folder.rfind('/') + 1) != manifest->id) {
        found.problems.push_back(
            fmt::format("{}: its folder must be called {}", file, manifest->id));
        continue;
      }
      const std::string id = manifest->id;
      by_id.insert_or_assign(id, *std::move(manifest));
    }
  }
  for (auto& [id, manifest] : by_id) {
    if (std::ranges::find(disabled, id) == disabled.end())
      found.manifests.push_back(std::move(manifest));
  }
  return found;
}

}  // namespace stet::hook
