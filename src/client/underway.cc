#include "client/underway.h"

#include <algorithm>

namespace stet::client {
namespace {

using protocol::TransientPayload;

constexpr std::string_view kText = "text";
constexpr std::string_view kThinking = "thinking";
constexpr std::string_view kToolCall = "tool_call";

protocol::MessageCancelled Cancelled(const std::string& event_id) {
  protocol::MessageCancelled gone;
  gone.event_id = event_id;
  gone.reason = "the connection was lost meanwhile";
  return gone;
}

protocol::RuntimeStart Began(const std::string& turn_id) {
  protocol::RuntimeStart start;
  start.turn_id = turn_id;
  return start;
}

/// `output`, where there is some, comes right behind it.
protocol::ToolExecutionStart Runs(const protocol::RunningCall& call) {
  protocol::ToolExecutionStart start;
  start.event_id = call.event_id;
  start.tool_call_id = call.tool_call_id;
  start.tool_name = call.tool_name;
  start.args = call.args;
  start.began_at = call.began_at;
  return start;
}

protocol::ToolExecutionUpdate Wrote(const protocol::RunningCall& call) {
  protocol::ToolExecutionUpdate update;
  update.event_id = call.event_id;
  update.tool_call_id = call.tool_call_id;
  update.partial = call.output;
  return update;
}

protocol::RuntimeEnd Ended(const std::string& turn_id, const std::string& reason) {
  protocol::RuntimeEnd end;
  end.turn_id = turn_id;
  end.reason = reason;
  return end;
}

template <class Delta>
Delta DeltaOf(const std::string& event_id, std::int64_t index, std::string text) {
  Delta delta;
  delta.event_id = event_id;
  delta.block_index = index;
  delta.delta = std::move(text);
  return delta;
}

}  // namespace

bool Underway::Note(const protocol::Transient& transient) {
  const TransientPayload& payload = transient.transient;
  if (const auto* text = std::get_if<protocol::TextDelta>(&payload)) {
    Add(text->event_id, text->block_index, kText, text->delta);
  } else if (const auto* thought = std::get_if<protocol::ThinkingDelta>(&payload)) {
    Add(thought->event_id, thought->block_index, kThinking, thought->delta);
  } else if (const auto* call = std::get_if<protocol::ToolCallDelta>(&payload)) {
    Add(call->event_id, call->block_index, kToolCall, call->delta);
  } else if (const auto* start = std::get_if<protocol::MessageStart>(&payload)) {
    Erase(start->event_id);
    if (messages_.size() < kMaxMessages) messages_[start->event_id];
  } else if (const auto* end = std::get_if<protocol::BlockEnd>(&payload)) {
    const auto message = messages_.find(end->event_id);
    if (message == messages_.end()) return true;
    const auto block = message->second.blocks.find(end->block_index);
    if (block != message->second.blocks.end()) block->second.ended = true;
  } else if (const auto* gone = std::get_if<protocol::MessageCancelled>(&payload)) {
    Erase(gone->event_id);
  } else if (const auto* runs = std::get_if<protocol::ToolExecutionStart>(&payload)) {
    if (calls_.size() < kMaxCalls)
      calls_[runs->tool_call_id] = {.event_id = runs->event_id, .began_at = transient.ts};
  } else if (const auto* ran = std::get_if<protocol::ToolExecutionEnd>(&payload)) {
    calls_.erase(ran->tool_call_id);
  } else if (const auto* began = std::get_if<protocol::RuntimeStart>(&payload)) {
    Turn& turn = TurnOf(began->turn_id);  // Again, if it waited for an answer meanwhile.
    turn.begun = true;
    turn.told = false;
    turn.reason.reset();
  } else if (const auto* over = std::get_if<protocol::RuntimeEnd>(&payload)) {
    return !std::exchange(TurnOf(over->turn_id).told, true);
  }
  return true;
}

void Underway::NoteTurn(const std::string& turn_id) { TurnOf(turn_id).own = true; }

void Underway::ForgetTurns() {
  std::erase_if(turns_, [](const Turn& turn) { return !turn.own; });
}

Underway::Turn& Underway::TurnOf(const std::string& id) {
  const auto known = std::ranges::find(turns_, id, &Turn::id);
  if (known != turns_.end()) return *known;
  if (turns_.size() >= kMaxTurns) turns_.pop_front();
  Turn& turn = turns_.emplace_back();
  turn.id = id;
  return turn;
}

void Underway::Add(const std::string& event_id, std::int64_t index, std::string_view kind,
                   const std::string& text) {
  const auto found = messages_.find(event_id);
  if (found == messages_.end() || found->second.lost) return;
  Message& message = found->second;
  const bool fresh = !message.blocks.contains(index);
  if (bytes_ + text.size() > kMaxText || (fresh && message.blocks.size() >= kMaxBlocks)) {
    bytes_ -= message.bytes;
    message = Message();
    message.lost = true;
    return;
  }
  Block& block = message.blocks[index];
  if (fresh) block.kind = kind;
  block.text += text;
  message.bytes += text.size();
  bytes_ += text.size();
}

void Underway::Erase(const std::string& event_id) {
  const auto found = messages_.find(event_id);
  if (found == messages_.end()) return;
  bytes_ -= found->second.bytes;
  messages_.erase(found);
}

/// A message's end is the message itself. The host tells a call's end, with the time that it took,
/// right behind its result, and a turn's right behind the end in the log.
void Underway::Take(const protocol::Event& event, std::int64_t epoch) {
  Erase(event.id);
  if (const auto* turn = std::get_if<protocol::Turn>(&event.payload))
    return NoteTurn(event, *turn, epoch);
  const auto* result = std::get_if<protocol::ToolResult>(&event.payload);
  if (result == nullptr) return;
  const auto call = calls_.find(result->tool_call_id);
  if (call == calls_.end()) return;
  call->second.failed = result->is_error;
  if (call->second.began_at != 0)
    call->second.took_ms = std::max<std::int64_t>(event.stamp.ts - call->second.began_at, 0);
  call->second.epoch = epoch;
  call->second.seq = event.seq;
}

/// The end of a turn that the watcher never heard of says nothing to it: a process that opens the
/// log writes down how the one before it died.
void Underway::NoteTurn(const protocol::Event& event, const protocol::Turn& turn,
                        std::int64_t epoch) {
  if (!event.stamp.turn_id) return;
  if (turn.phase == protocol::phase::kStart) TurnOf(*event.stamp.turn_id);
  const auto known = std::ranges::find(turns_, *event.stamp.turn_id, &Turn::id);
  if (known == turns_.end()) return;
  if (turn.phase == protocol::phase::kEnd) known->reason = turn.reason.value_or("completed");
  known->epoch = epoch;
  known->seq = event.seq;
}

Payloads Underway::Reconcile(const protocol::LivePush& live) {
  Payloads out;
  std::vector<std::string> over;
  for (const auto& [event_id, message] : messages_) {
    const auto partial =
        std::ranges::find(live.partial, event_id, &protocol::PartialMessage::event_id);
    if (partial == live.partial.end() || !GoesOn(message, *partial)) over.push_back(event_id);
  }
  for (const std::string& event_id : over) {
    out.emplace_back(Cancelled(event_id));
    Erase(event_id);
  }
  TellCalls(live, out);
  TellTurns(live, out);
  TellRunningTurn(live, out);
  for (const protocol::PartialMessage& partial : live.partial) Tell(partial, out);
  for (const protocol::RunningCall& call : live.running) TellRunning(call, out);
  return out;
}

/// Calls whose result is in the log and whose end was missed.
void Underway::TellCalls(const protocol::LivePush& live, Payloads& out) {
  std::erase_if(calls_, [&](const auto& entry) {
    const auto& [tool_call_id, call] = entry;
    if (!call.failed || (call.epoch == live.epoch && call.seq >= live.seq)) return false;
    protocol::ToolExecutionEnd end;
    end.event_id = call.event_id;
    end.tool_call_id = tool_call_id;
    end.duration_ms = call.took_ms;
    end.is_error = *call.failed;
    out.emplace_back(std::move(end));
    return true;
  });
}

void Underway::TellTurns(const protocol::LivePush& live, Payloads& out) {
  for (Turn& turn : turns_) {
    // The last event of all: its turn is just beginning or ending, and the host tells that next.
    const bool comes = turn.epoch == live.epoch && turn.seq >= live.seq;
    if (turn.told || comes) continue;
    if (turn.reason) {
      turn.told = true;
      out.emplace_back(Ended(turn.id, *turn.reason));
    } else if (!turn.begun && !turn.own && turn.id != live.turn_id) {
      // A turn that does not run any more has no end in the log: the host will be asked for it.
      turn.begun = true;
      out.emplace_back(Began(turn.id));
    }
  }
}

/// One that was begun before the watcher came, or while it was away.
void Underway::TellRunningTurn(const protocol::LivePush& live, Payloads& out) {
  if (!live.turn_id) return;
  Turn& turn = TurnOf(*live.turn_id);
  if (turn.begun && !turn.told) return;
  turn.begun = true;
  turn.told = false;
  turn.reason.reset();
  protocol::RuntimeStart start = Began(turn.id);
  start.began_at = live.turn_began_at;
  out.emplace_back(std::move(start));
}

void Underway::TellRunning(const protocol::RunningCall& call, Payloads& out) {
  if (calls_.contains(call.tool_call_id) || calls_.size() >= kMaxCalls) return;
  calls_[call.tool_call_id] = {.event_id = call.event_id, .began_at = call.began_at};
  out.emplace_back(Runs(call));
  if (!call.output.empty()) out.emplace_back(Wrote(call));
}

/// Whether what was told of it is the beginning of what is said so far.
bool Underway::GoesOn(const Message& message, const protocol::PartialMessage& partial) const {
  if (message.lost) return false;
  return std::ranges::all_of(message.blocks, [&](const auto& entry) {
    const auto same =
        std::ranges::find(partial.blocks, entry.first, &protocol::PartialBlock::index);
    return same != partial.blocks.end() && same->kind == entry.second.kind &&
           same->text.starts_with(entry.second.text);
  });
}

void Underway::Tell(const protocol::PartialMessage& partial, Payloads& out) {
  if (!messages_.contains(partial.event_id)) {
    if (messages_.size() >= kMaxMessages) return;
    messages_[partial.event_id];
    protocol::MessageStart start;
    start.event_id = partial.event_id;
    start.parent_id = partial.parent_id;
    start.role = partial.role;
    start.model = partial.model;
    out.emplace_back(std::move(start));
  }
  for (const protocol::PartialBlock& block : partial.blocks) {
    TellBlock(partial, block, out);
    Message& message = messages_[partial.event_id];
    const auto told = message.blocks.find(block.index);
    if (told == message.blocks.end() || told->second.ended || &block == &partial.blocks.back())
      continue;
    told->second.ended = true;
    protocol::BlockEnd end;
    end.event_id = partial.event_id;
    end.block_index = block.index;
    out.emplace_back(std::move(end));
  }
}

void Underway::TellBlock(const protocol::PartialMessage& partial,
                         const protocol::PartialBlock& block, Payloads& out) {
  const Message& message = messages_[partial.event_id];
  const auto told = message.blocks.find(block.index);
  const bool fresh = told == message.blocks.end();
  const std::size_t have = fresh ? 0 : told->second.text.size();
  if (!fresh && (told->second.kind != block.kind || have >= block.text.size())) return;
  std::string rest = block.text.substr(have);
  const std::string& id = partial.event_id;
  if (block.kind == kText) {
    out.emplace_back(DeltaOf<protocol::TextDelta>(id, block.index, rest));
  } else if (block.kind == kThinking) {
    out.emplace_back(DeltaOf<protocol::ThinkingDelta>(id, block.index, rest));
  } else if (block.kind == kToolCall) {
    auto delta = DeltaOf<protocol::ToolCallDelta>(id, block.index, rest);
    delta.tool_call_id = block.tool_call_id.value_or("");
    if (fresh) delta.tool_name = block.tool_name;
    out.emplace_back(std::move(delta));
  } else {
    return;
  }
  Add(id, block.index, block.kind, rest);
}

std::vector<std::string> Underway::open_turns() const {
  std::vector<std::string> out;
  for (const Turn& turn : turns_) {
    if (!turn.told) out.push_back(turn.id);
  }
  return out;
}

bool Underway::has_open_turn() const {
  return std::ranges::any_of(turns_, [](const Turn& turn) { return !turn.told; });
}

Payloads Underway::EndTurns(const std::vector<std::string>& turn_ids) {
  Payloads out;
  for (const std::string& id : turn_ids) {
    const auto known = std::ranges::find(turns_, id, &Turn::id);
    if (known == turns_.end() || std::exchange(known->told, true)) continue;
    out.emplace_back(Ended(id, known->reason.value_or("interrupted")));
  }
  return out;
}

Payloads Underway::EndTurn(const protocol::RuntimeEnd& end) {
  const auto known = std::ranges::find(turns_, end.turn_id, &Turn::id);
  if (known == turns_.end() || std::exchange(known->told, true)) return {};
  return {end};
}

}  // namespace stet::client
