#include "lane/tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/session_tools.h"
#include "agent/unfinished.h"
#include "lane/marks.h"
#include "lane/setup.h"
#include "lane/tasks.h"
#include "provider/provider.h"
#include "tool/builtin.h"

namespace stet::lane {

Status AddTools(const ToolGround& ground, const LaneSetup& setup,
                const agent::Unfinished& unfinished) {
  agent::Workbench& bench = ground.bench;
  bench.tools.Remember(unfinished.toolset);
  const bool boxes = bench.settings->sandbox.when != agent::SandboxRules::When::kNever;
  tool::ToolSource builtin{.name = "stet", .trimmed = true};
  builtin.tools = tool::BuiltinTools({setup.variables, ground.tasks.shells(), boxes, setup.hidden},
                                     {&setup.models.http(), setup.private_hosts});
  builtin.tools.push_back(tool::MakeSnipTool(
      [&marks = ground.marks](const std::optional<std::string>& turn, bool undo) {
        return marks.SnipByModel(turn, undo);
      }));
  RETURN_IF_ERROR(bench.tools.box().Add(std::move(builtin)));
  if (!setup.output_schema) return {};
  bench.output.emplace();
  bench.output->schema = *setup.output_schema;
  tool::ToolSource output{.name = "the output schema", .asked = true};
  output.tools.push_back(tool::MakeStructuredOutputTool(
      setup.output_schema->text, [&bench](const Raw& value) { bench.output->value = value; }));
  if (const Status added = bench.tools.box().Add(std::move(output)); !added)
    return Fail(Code::kInvalid, "the output schema: " + added.error().message);
  return {};
}

Result<std::vector<std::string>> OpenToolset(agent::Workbench& bench, const LaneSetup& setup,
                                             const agent::Unfinished& unfinished) {
  const provider::Model& model = bench.model->model();
  agent::SessionTools& tools = bench.tools;
  tools.Open(bench.log, unfinished.toolset, model.context_window);
  if (setup.tools.only) RETURN_IF_ERROR(tools.box().CheckOption(tools.toolset()));
  std::vector<std::string> notes = tools.box().notes();
  if (tool::IsSmallWindow(model.context_window))
    notes.push_back(fmt::format("the window of {} has only {} tokens: the tools are {}",
                                model.FullName(), model.context_window,
                                fmt::join(tools.toolset().names(), ", ")));
  return notes;
}

}  // namespace stet::lane
