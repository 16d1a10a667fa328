#include "lane/queues.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/workbench.h"
#include "base/random.h"
#include "protocol/ids.h"

namespace stet::lane {

Result<std::string> AddToQueue(log::Log& log, bool steer, protocol::QueueItem item) {
  const log::SessionState& state = log.index().state();
  item.item_id = protocol::NewQueueItemId(ProcessRandom());
  std::string id = item.item_id;
  protocol::QueueUpdate update;
  update.queue = steer ? "steer" : "follow_up";
  update.items = steer ? state.steers : state.follow_ups;
  update.items.push_back(std::move(item));
  RETURN_IF_ERROR(agent::AppendEvent(log, std::move(update), {}));
  return id;
}

Status RewriteQueue(log::Log& log, const std::string& queue, const protocol::QueueItems& items) {
  if (queue != "follow_up" && queue != "steer")
    return Fail(Code::kInvalid, fmt::format("there is no queue {}", queue));
  const log::SessionState& state = log.index().state();
  const protocol::QueueItems& before = queue == "steer" ? state.steers : state.follow_ups;
  for (const protocol::QueueItem& item : items) {
    if (std::ranges::find(before, item.item_id, &protocol::QueueItem::item_id) == before.end())
      return Fail(Code::kConflict,
                  fmt::format("{} is no longer queued: it was taken or removed", item.item_id));
  }
  protocol::QueueUpdate update;
  update.queue = queue;
  update.items = items;
  return agent::AppendEvent(log, std::move(update), {});
}

}  // namespace stet::lane
