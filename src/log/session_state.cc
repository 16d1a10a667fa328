#include "log/session_state.h"

#include <algorithm>

#include "base/hash.h"
#include "base/utf8.h"

namespace stet::log {
namespace {

template <class T>
void Overlay(std::optional<T>& current, const std::optional<T>& change) {
  if (change) current = change;
}

}  // namespace

Grant GrantOf(const protocol::Permission& answer) {
  return {.request_id = answer.request_id,
          .tool_call_id = answer.tool_call_id,
          .args_hash = answer.args_hash,
          .answer = answer.answer.value_or(""),
          .edited = answer.args ? Sha256Hex(answer.args->text) : "",
          .rule = answer.rule.value_or(""),
          .scope = answer.scope.value_or(""),
          .mac = answer.mac.value_or("")};
}

void SessionState::Apply(const protocol::Opened& opened) {
  epoch = std::max(epoch, opened.epoch);
  version = opened.version;
}

void SessionState::Apply(const protocol::SessionInfo& event) {
  const protocol::InfoChanges& changes = event.changes;
  Overlay(info.title, changes.title);
  Overlay(info.model, changes.model);
  Overlay(info.effort, changes.effort);
  Overlay(info.mode, changes.mode);
  Overlay(info.disallowed, changes.disallowed);
  Overlay(info.tags, changes.tags);
  Overlay(info.cwd, changes.cwd);
  if (!changes.extra.empty()) info.extra = changes.extra;
}

void SessionState::Apply(const protocol::QueueUpdate& update) {
  if (update.queue == "follow_up") follow_ups = update.items;
  if (update.queue == "steer") steers = update.items;
}

void SessionState::Apply(const protocol::UserMessage& message) {
  const std::string text = PlainText(message.message.blocks);
  last_prompt = text.substr(0, Utf8PrefixLength(text, kPromptBytes));
  if (first_prompt.empty()) first_prompt = last_prompt;
}

void SessionState::Apply(const protocol::Permission& permission) {
  if (!permission.rule) return;
  if (permission.phase == protocol::phase::kWithdrawn)
    std::erase_if(grants, [&](const Grant& one) { return one.rule == *permission.rule; });
  if (permission.phase != protocol::phase::kAnswered) return;
  Grant grant = GrantOf(permission);
  const auto same = [&](const Grant& one) {
    return one.rule == grant.rule && one.mac == grant.mac;
  };
  if (std::ranges::none_of(grants, same)) grants.push_back(std::move(grant));
}

void SessionState::Consume(std::string_view queue_item_id) {
  const auto same = [&](const protocol::QueueItem& item) { return item.item_id == queue_item_id; };
  std::erase_if(follow_ups, same);
  std::erase_if(steers, same);
}

}  // namespace stet::log
