#include "provider/reply_builder.h"

#include <algorithm>
#include <array>

#include "json/json.h"
#include "protocol/ids.h"

namespace stet::provider {
namespace {

std::string_view KindName(std::size_t kind) {
  constexpr std::array<std::string_view, 4> kNames = {"text", "thinking", "tool_call",
                                                      "redacted_thinking"};
  return kNames[kind];
}

/// The arguments as the log keeps them.
Raw ArgsOf(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Raw{"{}"};
  if (Result<Raw> whole = Raw::From(text)) return *std::move(whole);
  Raw malformed{""};
  AppendJsonString(malformed.text, text);
  return malformed;
}

}  // namespace

ReplyBuilder::ReplyBuilder(const Model& model, Sink& sink, Random& ids)
    : model_(model), sink_(sink), ids_(ids) {}

void ReplyBuilder::Emit(const StreamEvent& event) { sink_.On(event); }

void ReplyBuilder::Start(std::string_view model) {
  if (done() || started_) return;
  started_ = true;
  Emit(MessageStart{.model = std::string(model)});
}

ReplyBuilder::Handle ReplyBuilder::Open(Kind kind) {
  if (slots_.size() > kMaxBlocks) return kMaxBlocks;  // The closed one that ended it all.
  if (!done() && slots_.size() >= kMaxBlocks)
    Fail({.kind = FailureKind::kProtocol, .message = "the reply has too many blocks"});
  if (!done()) Start("");
  slots_.push_back({.kind = kind, .open = !done()});
  return slots_.size() - 1;
}

ReplyBuilder::Handle ReplyBuilder::OpenText() { return Open(Kind::kText); }

ReplyBuilder::Handle ReplyBuilder::OpenThinking() { return Open(Kind::kThinking); }

ReplyBuilder::Handle ReplyBuilder::OpenToolCall(std::string_view name, std::string_view native_id) {
  const Handle call = Open(Kind::kToolCall);
  slots_[call].tool_call_id = protocol::NewToolCallId(ids_);
  SetNativeId(call, native_id);
  SetToolName(call, name);
  return call;
}

void ReplyBuilder::SetToolName(Handle call, std::string_view name) {
  Slot& slot = slots_[call];
  if (done() || !slot.open || name.empty() || !slot.name.empty() || !Grow(name.size())) return;
  slot.name = name;
  StartOnStream(slot);
  if (!slot.text.empty()) Emit(ToolCallDelta{.index = slot.index, .text = slot.text});
}

void ReplyBuilder::SetNativeId(Handle call, std::string_view native_id) {
  Slot& slot = slots_[call];
  if (done() || !slot.open || !slot.native_id.empty() || !Grow(native_id.size())) return;
  slot.native_id = native_id;
}

void ReplyBuilder::StartOnStream(Slot& slot) {
  if (slot.index >= 0) return;
  slot.index = static_cast<std::int64_t>(order_.size());
  order_.push_back(static_cast<Handle>(&slot - slots_.data()));
  BlockStart start{.index = slot.index,
                   .kind = std::string(KindName(static_cast<std::size_t>(slot.kind)))};
  if (slot.kind == Kind::kToolCall) {
    start.tool_call_id = slot.tool_call_id;
    start.tool_name = slot.name;
  }
  Emit(start);
}

bool ReplyBuilder::Grow(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kMaxBytes) return true;
  Fail({.kind = FailureKind::kProtocol, .message = "the reply is larger than 64 MB"});
  return false;
}

void ReplyBuilder::Append(Handle block, std::string_view text) {
  Slot& slot = slots_[block];
  if (done() || !slot.open || text.empty() || !Grow(text.size())) return;
  StartOnStream(slot);
  slot.text += text;
  if (slot.kind == Kind::kText) {
    // White space alone shows nothing: it may be repeated.
    committed_ = committed_ || text.find_first_not_of(" \t\r\n") != std::string_view::npos;
    EmitDelta<TextDelta>(slot.index, text);
  } else {
    EmitDelta<ThinkingDelta>(slot.index, text);
  }
}

/// Into the event before, if it is of the same type: its text has the memory already.
template <class Delta>
void ReplyBuilder::EmitDelta(std::int64_t index, std::string_view text) {
  auto* delta = std::get_if<Delta>(&delta_);
  if (delta == nullptr) delta = &delta_.emplace<Delta>();
  delta->index = index;
  delta->text = text;
  Emit(delta_);
}

void ReplyBuilder::AppendArgs(Handle call, std::string_view json) {
  Slot& slot = slots_[call];
  if (done() || !slot.open || json.empty() || !Grow(json.size())) return;
  slot.text += json;
  if (slot.index >= 0) EmitDelta<ToolCallDelta>(slot.index, json);
}

void ReplyBuilder::SetSignature(Handle block, std::string_view signature) {
  Slot& slot = slots_[block];
  if (done() || !slot.open || !Grow(signature.size())) return;
  slot.signature = std::string(signature);
}

void ReplyBuilder::AddRedacted(Raw data) {
  if (done() || !Grow(data.text.size())) return;
  const Handle block = Open(Kind::kRedacted);
  slots_[block].data = std::move(data);
  Close(block);
}

bool ReplyBuilder::HasWholeArgs(Handle call) const {
  JsonReader reader(slots_[call].text);
  return reader.Peek() == JsonReader::Kind::kObject && reader.Skip() && reader.AtEnd();
}

bool ReplyBuilder::is_open(Handle block) const { return slots_[block].open; }

protocol::Block ReplyBuilder::BlockOf(const Slot& slot) const {
  const std::string dialect(DialectName(model_.dialect));
  switch (slot.kind) {
    case Kind::kText: return protocol::TextBlock{.text = slot.text, .signature = slot.signature};
    case Kind::kThinking:
      return protocol::ThinkingBlock{
          .text = slot.text, .signature = slot.signature, .dialect = dialect};
    case Kind::kRedacted:
      return protocol::RedactedThinkingBlock{.data = slot.data, .dialect = dialect};
    case Kind::kToolCall: break;
  }
  protocol::ToolCallBlock call{.tool_call_id = slot.tool_call_id,
                               .tool_name = slot.name,
                               .args = ArgsOf(slot.text),
                               .signature = slot.signature};
  if (!slot.native_id.empty()) call.native_id = slot.native_id;
  return call;
}

void ReplyBuilder::Close(Handle block) {
  Slot& slot = slots_[block];
  if (done() || !slot.open) return;
  const bool empty = slot.text.empty() && !slot.signature && slot.index < 0;
  const bool hollow = slot.kind == Kind::kText || slot.kind == Kind::kThinking;
  if (hollow && empty) {
    slot.open = false;
    return;
  }
  StartOnStream(slot);
  slot.open = false;
  if (slot.kind == Kind::kToolCall) committed_ = true;
  Emit(BlockEnd{.index = slot.index, .block = BlockOf(slot)});
}

void ReplyBuilder::CloseAll() {
  for (Handle block = 0; block < slots_.size(); ++block) Close(block);
}

void ReplyBuilder::Report(const protocol::Usage& usage, bool final_word) {
  if (done()) return;
  usage_final_ = usage_final_ || final_word;
  if (usage_ == usage) return;
  usage_ = usage;
  Emit(UsageReported{.usage = usage});
}

void ReplyBuilder::Stop(std::string_view reason) {
  if (done() || stopped_) return;
  CloseAll();
  stopped_ = true;
  const bool calls = std::ranges::any_of(
      slots_, [](const Slot& slot) { return slot.kind == Kind::kToolCall && slot.index >= 0; });
  stop_reason_ = calls && reason == stop::kEnd ? stop::kToolUse : reason;
  Emit(Stopped{.reason = stop_reason_});
}

void ReplyBuilder::End() {
  if (done()) return;
  Start("");
  CloseAll();
  Stop(stop::kEnd);
  ended_ = true;
  Emit(MessageEnd());
}

void ReplyBuilder::Fail(Failure failure) {
  if (!done()) failure_ = std::move(failure);
}

Reply ReplyBuilder::TakeReply() {
  Reply reply;
  for (const Handle block : order_) {
    const Slot& slot = slots_[block];
    if (!slot.open || slot.kind == Kind::kText) reply.content.blocks.push_back(BlockOf(slot));
  }
  reply.content.model = model_.FullName();
  if (stopped_) reply.content.stop_reason = stop_reason_;
  reply.content.usage = usage_;
  reply.usage_final = usage_final_ || ended_;
  reply.partial = !ended_;
  reply.failure = std::move(failure_);
  return reply;
}

}  // namespace stet::provider
