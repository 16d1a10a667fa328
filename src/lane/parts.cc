#include "lane/parts.h"

namespace stet::lane {

LaneParts::LaneParts(LaneSetup given)
    : setup(std::move(given)),
      asks(setup.loop, *setup.log, setup.own),
      tools(setup.tools),
      bench{.loop = setup.loop,
            .log = *setup.log,
            .model = nullptr,
            .tools = tools,
            .workspace = setup.workspace,
            .asks = asks,
            .settings = agent::CurrentSettings(std::move(setup.settings)),
            .own = setup.own,
            .redactor = std::move(setup.redactor),
            .kept_rules = std::move(setup.kept_rules)},
      changes(bench, setup.models, std::move(setup.select)),
      reports(bench),
      hooks(bench) {
  if (setup.checkpoints) bench.checkpoints = setup.checkpoints;
  bench.background = [this] { return tasks->Describe(); };
  if (!setup.fresh) bench.prime = std::move(setup.prime);
  asks.set_present(setup.answers);
}

}  // namespace stet::lane
