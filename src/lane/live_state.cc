#include "lane/live_state.h"

#include "agent/settings.h"
#include "lane/parts.h"
#include "lane/work.h"
#include "provider/provider.h"

namespace stet::lane {

protocol::LiveState LiveStateOf(const LaneParts& parts, const LaneWork& work) {
  const agent::Workbench& bench = parts.bench;
  const log::SessionState& folded = bench.log.index().state();
  const provider::Model& model = bench.model->model();
  protocol::LiveState state;
  state.session_id = bench.log.header().session_id;
  state.asks = parts.asks.permissions();
  state.questions = parts.asks.questions();
  const bool asks = !state.asks.empty() || !state.questions.empty();
  state.state = asks ? "waiting" : work.working() ? "running" : "idle";
  if (work.working()) state.turn_id = work.turn_id();
  state.project = bench.workspace.project;
  state.cwd = bench.workspace.cwd;
  state.model = model.FullName();
  state.effort = bench.settings->effort.value_or("");
  state.mode = policy::ModeName(bench.settings->rules.mode);
  for (const std::string_view name : bench.tools.toolset().names()) state.tools.emplace_back(name);
  state.context_window = model.context_window;
  state.leaf_id = bench.log.leaf_id();
  state.interrupted = !work.working() && work.unfinished();
  state.follow_ups = folded.follow_ups;
  state.steers = folded.steers;
  for (std::string& name : parts.hooks.Commands()) state.commands.push_back(std::move(name));
  return state;
}

}  // namespace stet::lane
