#include "host/hub.h"

#include <algorithm>

#include "base/clock.h"
#include "base/utf8.h"
#include "protocol/event.h"

namespace stet::host {
namespace {

using protocol::Transient;

/// What an item costs beside its text.
constexpr std::size_t kItemBytes = 96;

std::size_t CostOf(const HubItem& item) { return item.message->size() + kItemBytes; }

/// Adds `more` to `first` when both are of the same kind and block.
template <class Delta>
bool Join(protocol::TransientPayload& first, const protocol::TransientPayload& more) {
  auto* to = std::get_if<Delta>(&first);
  const auto* from = std::get_if<Delta>(&more);
  if (to == nullptr || from == nullptr) return false;
  if (to->event_id != from->event_id || to->block_index != from->block_index) return false;
  to->delta += from->delta;
  return true;
}

bool IsDelta(const protocol::TransientPayload& payload) {
  return std::holds_alternative<protocol::TextDelta>(payload) ||
         std::holds_alternative<protocol::ThinkingDelta>(payload) ||
         std::holds_alternative<protocol::ToolCallDelta>(payload);
}

}  // namespace

Hub::Hub(Loop& loop, KeptBudget& budget, std::string session_id)
    : budget_(budget), session_id_(std::move(session_id)), timer_(loop) {
  order_ = budget_.order_.insert(budget_.order_.end(), this);
}

Hub::~Hub() {
  budget_.bytes_ -= kept_bytes_;
  budget_.order_.erase(order_);
}

void Hub::Begin(std::int64_t epoch, std::uint64_t seq) {
  Forget();
  epoch_ = epoch;
  seq_ = seq;
  persistent_seq_ = seq;
  kept_from_ = seq;
}

void Hub::Forget() {
  timer_.Cancel();
  gathered_.reset();
  partial_ = {};
  running_ = {};
  turn_id_.reset();
  turn_began_at_.reset();
  budget_.bytes_ -= kept_bytes_;
  kept_bytes_ = 0;
  std::deque<HubItem>().swap(kept_);
  kept_from_ = seq_;
}

void Hub::AddEvent(std::string_view id, std::uint64_t seq, std::string_view line) {
  Flush();
  Finish(id);
  protocol::EventPush push;
  push.session_id = session_id_;
  push.epoch = epoch_;
  push.event = Raw{std::string(line)};
  persistent_seq_ = seq;
  Emit({.from_seq = seq,
        .seq = seq,
        .persistent = true,
        .message = std::make_shared<const std::string>(Encode(push))});
}

void Hub::AddTransient(const Transient& transient) {
  Note(transient);
  if (IsDelta(transient.transient) && Gather(transient)) return;
  Flush();
  EmitTransient(transient, transient.seq);
}

/// The first delta after a silence goes out at once, those behind it wait for each other.
bool Hub::Gather(const Transient& transient) {
  using protocol::TextDelta;
  using protocol::ThinkingDelta;
  using protocol::ToolCallDelta;
  if (gathered_) {
    protocol::TransientPayload& first = gathered_->transient.transient;
    const protocol::TransientPayload& more = transient.transient;
    if (host::Join<TextDelta>(first, more) || host::Join<ThinkingDelta>(first, more) ||
        host::Join<ToolCallDelta>(first, more)) {
      gathered_->transient.seq = transient.seq;
      return true;
    }
    Flush();
  }
  const auto now = SystemClock().Steady();
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_delta_);
  if (since >= kGather) {
    last_delta_ = now;
    return false;
  }
  gathered_ = Delta{transient, transient.seq};
  timer_.Start(kGather - since, [this] { Flush(); });
  return true;
}

void Hub::Flush() {
  if (!gathered_) return;
  const Delta delta = *std::exchange(gathered_, std::nullopt);
  timer_.Cancel();
  last_delta_ = SystemClock().Steady();
  EmitTransient(delta.transient, delta.from_seq);
}

void Hub::EmitTransient(const Transient& transient, std::uint64_t from_seq) {
  protocol::TransientPush push;
  push.session_id = session_id_;
  push.epoch = epoch_;
  push.transient = Raw{protocol::EncodeTransient(transient)};
  if (from_seq != transient.seq) push.from_seq = from_seq;
  Emit({.from_seq = from_seq,
        .seq = transient.seq,
        .persistent = false,
        .message = std::make_shared<const std::string>(Encode(push))});
}

void Hub::Emit(HubItem item) {
  seq_ = item.seq;
  for (HubListener* listener : listeners_) listener->OnItem(item);
  Keep(std::move(item));
}

void Hub::Keep(HubItem item) {
  const std::size_t cost = CostOf(item);
  kept_.push_back(std::move(item));
  kept_bytes_ += cost;
  budget_.bytes_ += cost;
  budget_.order_.splice(budget_.order_.end(), budget_.order_, order_);
  while (kept_bytes_ > kMaxKept) DropFirst();
  auto oldest = budget_.order_.begin();
  while (budget_.bytes_ > budget_.most_ && oldest != budget_.order_.end()) {
    if ((*oldest)->kept_.empty())
      ++oldest;
    else
      (*oldest)->DropFirst();
  }
}

void Hub::DropFirst() {
  const std::size_t cost = CostOf(kept_.front());
  kept_from_ = kept_.front().seq;
  kept_.pop_front();
  kept_bytes_ -= cost;
  budget_.bytes_ -= cost;
}

void Hub::Join(HubListener& listener) {
  Flush();
  listeners_.push_back(&listener);
}

void Hub::Leave(HubListener& listener) { std::erase(listeners_, &listener); }

bool Hub::Covers(std::int64_t epoch, std::uint64_t seq) const {
  return epoch == epoch_ && seq >= kept_from_ && seq <= seq_;
}

void Hub::Replay(std::uint64_t after, const std::function<void(const HubItem&)>& take) const {
  const auto first = std::ranges::upper_bound(kept_, after, {}, &HubItem::seq);
  std::for_each(first, kept_.end(), take);
}

/// Keeps the text of messages that are being written.
void Hub::Note(const Transient& transient) {
  const auto block = [&](const auto& delta, std::string_view kind) -> protocol::PartialBlock* {
    const auto found =
        std::ranges::find(partial_, delta.event_id, &protocol::PartialMessage::event_id);
    if (found == partial_.end()) return nullptr;
    protocol::PartialBlocks& blocks = found->blocks;
    if (blocks.empty() || blocks.back().index != delta.block_index) {
      const auto known =
          std::ranges::find(blocks, delta.block_index, &protocol::PartialBlock::index);
      if (known != blocks.end()) return &*known;
      protocol::PartialBlock& made = blocks.emplace_back();
      made.index = delta.block_index;
      made.kind = kind;
    }
    return &blocks.back();
  };
  if (const auto* start = std::get_if<protocol::MessageStart>(&transient.transient)) {
    protocol::PartialMessage& message = partial_.emplace_back();
    message.event_id = start->event_id;
    message.parent_id = start->parent_id;
    message.role = start->role;
    message.model = start->model;
  } else if (const auto* text = std::get_if<protocol::TextDelta>(&transient.transient)) {
    if (protocol::PartialBlock* to = block(*text, "text")) to->text += text->delta;
  } else if (const auto* thought = std::get_if<protocol::ThinkingDelta>(&transient.transient)) {
    if (protocol::PartialBlock* to = block(*thought, "thinking")) to->text += thought->delta;
  } else if (const auto* call = std::get_if<protocol::ToolCallDelta>(&transient.transient)) {
    if (protocol::PartialBlock* to = block(*call, "tool_call")) {
      to->text += call->delta;
      to->tool_call_id = call->tool_call_id;
      if (call->tool_name) to->tool_name = call->tool_name;
    }
  } else if (const auto* gone = std::get_if<protocol::MessageCancelled>(&transient.transient)) {
    Finish(gone->event_id);
  } else {
    NoteRunning(transient);
  }
}

void Hub::NoteRunning(const Transient& transient) {
  const auto of = [this](const std::string& tool_call_id) {
    return std::ranges::find(running_, tool_call_id, &protocol::RunningCall::tool_call_id);
  };
  if (const auto* start = std::get_if<protocol::ToolExecutionStart>(&transient.transient)) {
    if (running_.size() >= kMaxRunning) return;
    protocol::RunningCall& call = running_.emplace_back();
    call.event_id = start->event_id;
    call.tool_call_id = start->tool_call_id;
    call.tool_name = start->tool_name;
    call.args = start->args.text.size() <= kMaxArgs ? start->args : Raw{"{}"};
    call.began_at = transient.ts;
  } else if (const auto* more = std::get_if<protocol::ToolExecutionUpdate>(&transient.transient)) {
    const auto call = of(more->tool_call_id);
    if (call == running_.end()) return;
    call->output += more->partial;
    if (call->output.size() > kMaxOutput)
      call->output = ReplaceInvalidUtf8(call->output.substr(call->output.size() - kMaxOutput));
  } else if (const auto* end = std::get_if<protocol::ToolExecutionEnd>(&transient.transient)) {
    const auto call = of(end->tool_call_id);
    if (call != running_.end()) running_.erase(call);
  } else if (const auto* began = std::get_if<protocol::RuntimeStart>(&transient.transient)) {
    turn_id_ = began->turn_id;
    turn_began_at_ = transient.ts;
  } else if (std::holds_alternative<protocol::RuntimeEnd>(transient.transient)) {
    turn_id_.reset();
    turn_began_at_.reset();
    running_.clear();
  }
}

protocol::LivePush Hub::Live() const {
  protocol::LivePush push;
  push.session_id = session_id_;
  push.epoch = epoch_;
  push.seq = seq_;
  push.partial = partial_;
  push.turn_id = turn_id_;
  push.turn_began_at = turn_began_at_;
  push.running = running_;
  return push;
}

void Hub::Finish(std::string_view event_id) {
  std::erase_if(partial_, [&](const protocol::PartialMessage& message) {
    return message.event_id == event_id;
  });
}

}  // namespace stet::host
