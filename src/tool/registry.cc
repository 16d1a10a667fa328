#include "tool/registry.h"

#include <vector>

#include "tool/call_check.h"

namespace stet::tool {

Status Registry::Add(std::unique_ptr<Tool> tool) {
  std::string name(tool->name());
  if (tools_.contains(name)) return Fail(Code::kConflict, "two tools are named " + name);
  auto schema = SharedSchema(tool->schema());
  if (!schema) return std::unexpected(std::move(schema).error().While("schema of tool " + name));
  tools_.emplace(std::move(name), Entry{std::move(tool), *std::move(schema)});
  return {};
}

Tool* Registry::Find(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : found->second.tool.get();
}

Status Registry::Check(std::string_view name, const Raw& args) const {
  if (const auto found = tools_.find(name); found != tools_.end())
    return CheckArguments(name, *found->second.schema, args);
  std::vector<std::string_view> names;
  for (const auto& [known, entry] : tools_) names.push_back(known);
  return std::unexpected(NoSuchTool(name, names));
}

protocol::ToolSpecs Registry::Specs() const {
  protocol::ToolSpecs specs;
  for (const auto& [name, entry] : tools_)
    specs.push_back(
        {name, std::string(entry.tool->description()), Raw{std::string(entry.tool->schema())}});
  return specs;
}

}  // namespace stet::tool
