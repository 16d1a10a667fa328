#include "lane/queues.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/workbench.h"
#include "base/random.h"
#include "protocol/ids.h"

namespace stet::lane {
namespace {

/// What stays in a queue for an item that a client names: the log's own, with the client's words
/// when it changed them. Nothing else that the client says of the item counts.
Result<protocol::QueueItem> Remaining(const protocol::QueueItems& before,
                                      const protocol::QueueItem& named,
                                      const std::string& client_id) {
  const auto kept = std::ranges::find(before, named.item_id, &protocol::QueueItem::item_id);
  if (kept == before.end())
    return Fail(Code::kConflict,
                fmt::format("{} is no longer queued: it was taken or removed", named.item_id));
  if (named.content == kept->content) return *kept;
  protocol::TextBlock words;
  for (const protocol::Block& block : named.content) {
    const auto* text = std::get_if<protocol::TextBlock>(&block);
    if (text == nullptr)
      return Fail(Code::kInvalid, "what is queued can be changed to plain text only");
    words.text += text->text;
  }
  if (words.text.empty()) return Fail(Code::kInvalid, "there is nothing to send");
  protocol::QueueItem changed = *kept;
  changed.client_id = client_id;
  changed.content = {protocol::Block(std::move(words))};
  return changed;
}

}  // namespace

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

Status RewriteQueue(log::Log& log, const std::string& queue, const protocol::QueueItems& items,
                    const std::string& client_id) {
  if (queue != "follow_up" && queue != "steer")
    return Fail(Code::kInvalid, fmt::format("there is no queue {}", queue));
  const log::SessionState& state = log.index().state();
  const protocol::QueueItems& before = queue == "steer" ? state.steers : state.follow_ups;
  protocol::QueueUpdate update;
  update.queue = queue;
  for (const protocol::QueueItem& item : items) {
    if (std::ranges::count(update.items, item.item_id, &protocol::QueueItem::item_id) > 0)
      return Fail(Code::kInvalid, fmt::format("{} stands there twice", item.item_id));
    ASSIGN_OR_RETURN(protocol::QueueItem remaining, Remaining(before, item, client_id));
    update.items.push_back(std::move(remaining));
  }
  return agent::AppendEvent(log, std::move(update), {});
}

}  // namespace stet::lane
