#include "lane/instructions.h"

#include "agent/items.h"
#include "agent/pinned_sections.h"
#include "agent/request.h"
#include "agent/session_tools.h"
#include "agent/workbench.h"
#include "base/random.h"

namespace stet::lane {

LaneInstructions::LaneInstructions(agent::Workbench& bench, agent::InstructionSources sources,
                                   std::optional<protocol::InstructionSnapshot> kept)
    : bench_(bench), sources_(std::move(sources)), snapshot_(std::move(kept)) {
  if (snapshot_) Use();
}

Status LaneInstructions::Ensure() {
  if (snapshot_) return {};
  const protocol::InstructionSnapshot snapshot = agent::TakeSnapshot(sources_, SystemClock());
  std::vector<log::Draft> batch;
  batch.push_back({.payload = snapshot, .id = "", .stamp = {}});
  for (protocol::Pin& pin : agent::PinsIn(snapshot, ProcessRandom()))
    batch.push_back({.payload = std::move(pin), .id = "", .stamp = {}});
  ASSIGN_OR_RETURN(std::optional<protocol::Toolset> toolset, bench_.tools.Unkept(bench_.log));
  if (toolset) batch.push_back({.payload = *std::move(toolset), .id = "", .stamp = {}});
  RETURN_IF_ERROR(bench_.log.Append(std::move(batch)));
  bench_.tools.SetKept();
  snapshot_ = snapshot;
  Use();
  return {};
}

Result<bool> LaneInstructions::TellAppended() {
  if (!snapshot_ || sources_.appended.empty()) return false;
  agent::NewItem item{.kind = agent::item::kInstructions, .origin = "user", .content = ""};
  item.content = "The user adds to your instructions:\n" + sources_.appended;
  RETURN_IF_ERROR(agent::AppendItem(bench_.log, std::move(item), {}));
  return true;
}

void LaneInstructions::Use() {
  bench_.system = agent::RenderSnapshot(*snapshot_);
  bench_.cache_key = agent::CacheKeyOf(*snapshot_);
}

}  // namespace stet::lane
