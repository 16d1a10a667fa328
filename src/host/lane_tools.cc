// Which tools a lane's session has: their sources, and the toolset that its model sees.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/lane.h"
#include "tool/builtin.h"

namespace stet::host {

Status Lane::AddTools() {
  tools_.Remember(opening_.toolset);
  tool::ToolSource builtin{.name = "stet", .trimmed = true};
  builtin.tools = tool::BuiltinTools(
      {setup_.variables, *shells_,
       bench_.settings->sandbox.when != agent::SandboxRules::When::kNever, setup_.hidden},
      {&setup_.models.http(), setup_.private_hosts});
  builtin.tools.push_back(
      tool::MakeSnipTool([this](const std::optional<std::string>& turn, bool undo) {
        return SnipByModel(turn, undo);
      }));
  RETURN_IF_ERROR(tools_.box().Add(std::move(builtin)));
  if (!setup_.output_schema) return {};
  bench_.output.emplace();
  bench_.output->schema = *setup_.output_schema;
  tool::ToolSource output{.name = "the output schema", .asked = true};
  output.tools.push_back(tool::MakeStructuredOutputTool(
      setup_.output_schema->text, [this](const Raw& value) { bench_.output->value = value; }));
  if (const Status added = tools_.box().Add(std::move(output)); !added)
    return Fail(Code::kInvalid, "the output schema: " + added.error().message);
  return {};
}

/// When all sources have brought their tools. The log has it before the first request that follows.
Status Lane::OpenToolset() {
  const provider::Model& model = provider_->model();
  tools_.Open(*setup_.log, opening_.toolset, model.context_window);
  if (setup_.tools.only) RETURN_IF_ERROR(tools_.box().CheckOption(tools_.toolset()));
  for (const std::string& note : tools_.box().notes()) notes_.push_back(note);
  if (tool::IsSmallWindow(model.context_window))
    notes_.push_back(fmt::format("the window of {} has only {} tokens: the tools are {}",
                                 model.FullName(), model.context_window,
                                 fmt::join(tools_.toolset().names(), ", ")));
  return {};
}

}  // namespace stet::host
