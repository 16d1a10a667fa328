#include "lane/moves.h"

#include <algorithm>

#include "agent/resume.h"
#include "agent/unfinished.h"

namespace stet::lane {

Result<protocol::Moved> RewindLeaf(log::Log& log, const std::optional<std::string>& target) {
  protocol::Moved moved;
  moved.old_leaf = log.leaf_id();
  RETURN_IF_ERROR(log.Rewind(target, moved.old_leaf));
  moved.new_leaf = log.leaf_id();
  return moved;
}

Result<protocol::Moved> BranchLeaf(log::Log& log, const std::string& leaf) {
  protocol::Moved moved;
  moved.old_leaf = log.leaf_id();
  RETURN_IF_ERROR(log.Branch(leaf, moved.old_leaf));
  moved.new_leaf = log.leaf_id();
  return moved;
}

Status SettleLeaf(log::Log& log) {
  ASSIGN_OR_RETURN(const agent::Unfinished unfinished, agent::ReadUnfinished(log));
  RETURN_IF_ERROR(agent::SettleInterrupted(log, unfinished, false));
  return {};
}

Result<std::vector<protocol::Event>> RecentEvents(const log::Log& log, std::size_t count) {
  std::vector<protocol::Event> events;
  const log::Index& index = log.index();
  for (log::Ordinal at = index.leaf(); at != log::kNone && events.size() < count;
       at = index.entries()[at].parent) {
    ASSIGN_OR_RETURN(protocol::Event event, log.EventAt(at));
    events.push_back(std::move(event));
  }
  std::ranges::reverse(events);
  return events;
}

}  // namespace stet::lane
