#include "log/session_state.h"

#include "base/utf8.h"

namespace stet::log {
namespace {

template <class T>
void Take(std::optional<T>& current, const std::optional<T>& change) {
  if (change) current = change;
}

}  // namespace

void SessionState::Apply(const protocol::Opened& opened) {
  epoch = std::max(epoch, opened.epoch);
  version = opened.version;
}

void SessionState::Apply(const protocol::SessionInfo& event) {
  const protocol::InfoChanges& changes = event.changes;
  Take(info.title, changes.title);
  Take(info.model, changes.model);
  Take(info.effort, changes.effort);
  Take(info.mode, changes.mode);
  Take(info.tags, changes.tags);
  Take(info.cwd, changes.cwd);
  if (!changes.extra.empty()) info.extra = changes.extra;
}

void SessionState::Apply(const protocol::QueueUpdate& update) {
  if (update.queue == "follow_up") follow_ups = update.items;
  if (update.queue == "steer") steers = update.items;
}

void SessionState::ApplyFirstPrompt(const protocol::UserMessage& message) {
  if (!first_prompt.empty()) return;
  const std::string text = PlainText(message.message.blocks);
  first_prompt = text.substr(0, Utf8PrefixLength(text, kFirstPromptBytes));
}

void SessionState::Consume(std::string_view queue_item_id) {
  const auto same = [&](const protocol::QueueItem& item) { return item.item_id == queue_item_id; };
  std::erase_if(follow_ups, same);
  std::erase_if(steers, same);
}

}  // namespace stet::log
