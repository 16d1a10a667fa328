#include "client/projection.h"

#include <algorithm>

namespace stet::client {

using protocol::Event;

const Event* Projection::Find(std::string_view id) const {
  const auto seq = seqs_.find(id);
  return seq == seqs_.end() ? nullptr : &events_.at(seq->second);
}

void Projection::Take(const Event& event) {
  DropDraft(event.id);
  if (seqs_.contains(event.id)) return;  // Of two with one id the first counts.
  if (const auto there = events_.find(event.seq); there != events_.end()) {
    seqs_.erase(there->second.id);
    events_.erase(there);
  }
  Place(event);
  events_.emplace(event.seq, event);
  seqs_.emplace(event.id, event.seq);
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload))
    Consume(user->queue_item_id);
  if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload))
    Consume(item->queue_item_id);
  if (const auto* rewind = std::get_if<protocol::Rewind>(&event.payload))
    MoveLeaf(rewind->target_event_id);
  if (const auto* branch = std::get_if<protocol::Branch>(&event.payload))
    MoveLeaf(branch->leaf_event_id);
  if (const auto* queue = std::get_if<protocol::QueueUpdate>(&event.payload)) Fold(*queue);
  if (const auto* ask = std::get_if<protocol::Permission>(&event.payload)) Fold(*ask);
  if (const auto* question = std::get_if<protocol::Question>(&event.payload)) Fold(*question);
  while (events_.size() > options_.max_events) {
    const auto oldest = events_.begin();
    bridges_.erase(oldest->second.id);
    seqs_.erase(oldest->second.id);
    events_.erase(oldest);
    whole_ = false;
  }
}

/// In a whole log, an event whose parent stands nowhere hangs on the leaf before it.
void Projection::Place(const Event& event) {
  if (protocol::PlaceOf(event.payload) != protocol::Place::kTree) return;
  if (whole_ && event.parent_id && leaf_ && !seqs_.contains(*event.parent_id))
    bridges_.emplace(event.id, *leaf_);
  leaf_ = event.id;
}

/// In a whole log, a place that stands nowhere is none; else it is above what is known.
void Projection::MoveLeaf(const std::optional<std::string>& target) {
  if (whole_ && target && !seqs_.contains(*target)) return;
  leaf_ = target;
}

std::vector<const Event*> Projection::Path(std::size_t count) const {
  std::vector<const Event*> path;
  const Event* at = leaf_ ? Find(*leaf_) : nullptr;
  while (at != nullptr && path.size() < count) {
    path.push_back(at);
    const auto bridge = bridges_.find(at->id);
    const std::optional<std::string> parent =
        bridge == bridges_.end() ? at->parent_id : std::optional(bridge->second);
    const Event* above = parent ? Find(*parent) : nullptr;
    // A parent stands above its child; anything else would never end.
    at = above != nullptr && above->seq < at->seq ? above : nullptr;
  }
  std::ranges::reverse(path);
  return path;
}

void Projection::Consume(const std::optional<std::string>& queue_item_id) {
  if (!queue_item_id) return;
  const auto same = [&](const protocol::QueueItem& item) { return item.item_id == *queue_item_id; };
  std::erase_if(follow_ups_, same);
  std::erase_if(steers_, same);
  if (!consumed_.insert(*queue_item_id).second) return;
  consumed_order_.push_back(*queue_item_id);
  if (consumed_order_.size() <= kMaxConsumed) return;
  consumed_.erase(consumed_order_.front());
  consumed_order_.pop_front();
}

void Projection::Fold(const protocol::QueueUpdate& update) {
  protocol::QueueItems items = update.items;
  std::erase_if(items,
                [&](const protocol::QueueItem& item) { return consumed_.contains(item.item_id); });
  if (update.queue == "follow_up")
    follow_ups_ = std::move(items);
  else if (update.queue == "steer")
    steers_ = std::move(items);
}

void Projection::Fold(const protocol::Permission& permission) {
  std::erase_if(asks_, [&](const protocol::PermissionAsk& ask) {
    return ask.request_id == permission.request_id;
  });
  if (permission.phase != "asked" || asks_.size() >= kMaxAsks) return;
  protocol::PermissionAsk ask;
  if (permission.options) {
    Result<protocol::PermissionAsk> kept =
        Decode<protocol::PermissionAsk>(permission.options->text);
    if (kept) ask = *std::move(kept);
  }
  ask.request_id = permission.request_id;
  ask.tool_call_id = permission.tool_call_id;
  asks_.push_back(std::move(ask));
}

void Projection::Fold(const protocol::Question& question) {
  std::erase_if(questions_, [&](const protocol::QuestionAsk& ask) {
    return ask.question_id == question.question_id;
  });
  if (question.phase != "asked" || questions_.size() >= kMaxAsks) return;
  protocol::QuestionAsk& ask = questions_.emplace_back();
  ask.question_id = question.question_id;
  ask.text = question.text.value_or("");
  ask.options = question.options.value_or(Raw{"[]"});
}

void Projection::Set(const protocol::LiveState& state) {
  follow_ups_ = state.follow_ups;
  steers_ = state.steers;
  asks_ = state.asks;
  questions_ = state.questions;
}

void Projection::Take(const protocol::Transient& transient) {
  const protocol::TransientPayload& payload = transient.transient;
  if (const auto* start = std::get_if<protocol::MessageStart>(&payload)) {
    DropDraft(start->event_id);
    if (drafts_.size() < kMaxDrafts) drafts_[start->event_id].role = start->role;
  } else if (const auto* text = std::get_if<protocol::TextDelta>(&payload)) {
    Write(text->event_id, text->block_index, "text", text->delta);
  } else if (const auto* thought = std::get_if<protocol::ThinkingDelta>(&payload)) {
    Write(thought->event_id, thought->block_index, "thinking", thought->delta);
  } else if (const auto* call = std::get_if<protocol::ToolCallDelta>(&payload)) {
    Draft::Block* block = Write(call->event_id, call->block_index, "tool_call", call->delta);
    if (block == nullptr) return;
    block->tool_call_id = call->tool_call_id;
    if (call->tool_name) block->tool_name = *call->tool_name;
  } else if (const auto* gone = std::get_if<protocol::MessageCancelled>(&payload)) {
    DropDraft(gone->event_id);
  }
}

/// Null where there is no room, and for a message whose beginning was not heard.
Draft::Block* Projection::Write(const std::string& event_id, std::int64_t index,
                                std::string_view kind, const std::string& text) {
  const auto draft = drafts_.find(event_id);
  if (draft == drafts_.end() || draft_bytes_ + text.size() > kMaxDraftBytes) return nullptr;
  std::map<std::int64_t, Draft::Block>& blocks = draft->second.blocks;
  if (blocks.size() >= kMaxBlocks && !blocks.contains(index)) return nullptr;
  Draft::Block& block = blocks[index];
  block.kind = kind;
  block.text += text;
  draft_bytes_ += text.size();
  return &block;
}

void Projection::DropDraft(std::string_view event_id) {
  const auto draft = drafts_.find(event_id);
  if (draft == drafts_.end()) return;
  for (const auto& [index, block] : draft->second.blocks) draft_bytes_ -= block.text.size();
  drafts_.erase(draft);
}

}  // namespace stet::client
