// openai-responses: how the events of POST {base}/responses are read.
//
// A reply is a list of items: messages, reasoning, calls. Every item is told in pieces and then
// once more as a whole; what the pieces left out is taken from the whole. An item is known by its
// output_index, else by its id, else by being the last one of its kind.
#include <algorithm>
#include <unordered_map>

#include "provider/dialect.h"
#include "provider/event_shape.h"
#include "provider/openai/wire.h"

namespace stet::provider::openai_responses {
namespace {

using openai::Wanted;
using Handle = ReplyBuilder::Handle;

struct Event {
  JsonView type;
  JsonView delta;
  JsonView output_index;
  JsonView item_id;
  JsonView content_index;
  JsonView summary_index;
  JsonView text;
  JsonView refusal;
  JsonView arguments;
  JsonView item;
  JsonView response;
  JsonView error;
  JsonView sequence_number;
  JsonView obfuscation;  // Noise that hides how long the text is.
};
constexpr std::array kEvent = {
    Wanted<Event>{"type", &Event::type},
    Wanted<Event>{"delta", &Event::delta},
    Wanted<Event>{"output_index", &Event::output_index},
    Wanted<Event>{"item_id", &Event::item_id},
    Wanted<Event>{"content_index", &Event::content_index},
    Wanted<Event>{"summary_index", &Event::summary_index},
    Wanted<Event>{"text", &Event::text},
    Wanted<Event>{"refusal", &Event::refusal},
    Wanted<Event>{"arguments", &Event::arguments},
    Wanted<Event>{"item", &Event::item},
    Wanted<Event>{"response", &Event::response},
    Wanted<Event>{"error", &Event::error},
    Wanted<Event>{"sequence_number", &Event::sequence_number},
    Wanted<Event>{"obfuscation", &Event::obfuscation},
};

enum class Kind { kMessage, kReasoning, kCall, kOther };

Kind KindOf(const JsonView& item) {
  const std::string type = item["type"].StringOr("");
  if (type == "message") return Kind::kMessage;
  if (type == "reasoning") return Kind::kReasoning;
  if (type == "function_call") return Kind::kCall;
  return Kind::kOther;
}

struct Item {
  Kind kind = Kind::kOther;
  std::string id;
  std::optional<Handle> block;
  std::int64_t part = 0;  // Of a message or a summary: the one that `said` is of.
  bool is_named = false;  // A call whose tool is known.
  bool is_done = false;
  std::string said;   // What came in pieces: of the part, of all reasoning, or of the arguments.
  std::string phase;  // Of a message.
};

/// The part that the event is about: the present one when it does not say.
std::int64_t PartOf(const Event& event, const Item& item) {
  return event.summary_index.IntOr(event.content_index.IntOr(item.part));
}

/// The texts of a list of parts, joined by blank lines.
std::string JoinedTexts(const JsonView& parts) {
  std::string joined;
  parts.ForEach([&](const JsonView& part) {
    const std::string text = part["text"].StringOr("");
    if (!joined.empty() && !text.empty()) joined += "\n\n";
    joined += text;
  });
  return joined;
}

/// What a message is for; goes back with it. What is too long to be a word is none.
std::string PhaseOf(const JsonView& item) {
  constexpr std::size_t kMaxWord = 64;
  std::string phase = item["phase"].StringOr("");
  return phase.size() <= kMaxWord ? phase : "";
}

/// Whether a server that stored nothing can make anything of the reasoning item.
bool CanGoBack(const JsonView& item) {
  if (!item["encrypted_content"].StringOr("").empty()) return true;
  bool has_content = false;
  item["content"].ForEach([&](const JsonView& /*part*/) { has_content = true; });
  return has_content;
}

std::optional<protocol::Usage> ReadUsage(const JsonView& usage) {
  const std::optional<std::int64_t> input = usage["input_tokens"].Int();
  const std::optional<std::int64_t> output = usage["output_tokens"].Int();
  if (!input && !output) return std::nullopt;
  const JsonView details = usage["input_tokens_details"];
  return openai::UsageOf({.input = input.value_or(0),
                          .output = output.value_or(0),
                          .cache_read = details["cached_tokens"].Int(),
                          .cache_write = details["cache_write_tokens"].Int(),
                          .reasoning = usage["output_tokens_details"]["reasoning_tokens"].Int(),
                          .total = usage["total_tokens"].Int()});
}

class EventDecoder : public Decoder {
 public:
  explicit EventDecoder(ReplyBuilder& builder) : builder_(builder) {}

  void On(std::string_view event, std::string_view data) override;
  void Finish() override {
    if (!builder_.done()) builder_.Fail(openai::BrokenOff());
  }

 private:
  using Take = void (EventDecoder::*)(const Event&);
  static Take TakerOf(std::string_view type);

  void TakeStart(const Event& event);
  void TakeItemAdded(const Event& event);
  void TakeItemDone(const Event& event) { TakeWhole(event, event.item); }
  void TakeTextDelta(const Event& event);
  void TakeTextDone(const Event& event);
  void TakeRefusalDelta(const Event& event);
  void TakeRefusalDone(const Event& event);
  void TakeReasoningDelta(const Event& event);
  void TakeReasoningDone(const Event& event);
  void TakeArgsDelta(const Event& event);
  void TakeArgsDone(const Event& event);
  void TakeCompleted(const Event& event);
  void TakeIncomplete(const Event& event);
  void TakeFailed(const Event& event);
  void TakeOutput(const Event& event);
  void TakeUsage(const Event& event);

  void TakeWhole(const Event& event, const JsonView& whole);
  void TakeWholeMessage(Item& item, const JsonView& whole);
  void TakeWholeReasoning(Item& item, const JsonView& whole);
  void TakeWholeCall(Item& item, const JsonView& whole);

  Item* ItemOf(const Event& event, Kind kind, std::string_view id);
  Item* NewItem(const Event& event, Kind kind, std::string_view id);
  void AddText(Item& item, std::int64_t part, std::string_view text);
  void CompleteText(Item& item, std::int64_t part, std::string_view text);
  void NameCall(Item& item, const JsonView& call);
  void CompleteArgs(Item& item, std::string_view args);
  void CloseText(Item& item);

  ReplyBuilder& builder_;
  std::vector<Item> items_;
  std::unordered_map<std::int64_t, std::size_t> by_index_;
  bool refused_ = false;
  EventShape shape_;         // Of the last event, if all it did was to add text.
  Item* growing_ = nullptr;  // What that text was added to; valid while there is a shape.
};

void EventDecoder::On(std::string_view event, std::string_view data) {
  if (builder_.done()) return;
  if (shape_.Fits(event, data)) return AddText(*growing_, growing_->part, shape_.Text());
  shape_.Forget();
  growing_ = nullptr;
  if (data == "[DONE]") return;
  Event read;
  if (!openai::ReadMembers(JsonView(data), kEvent, read))
    return openai::RefuseUnlessJson(data, builder_);
  // An event's type is in its data; some servers have it only as the event's name.
  const std::string type = read.type.StringOr(event);
  const bool has_error = read.error && !read.error.is_null();
  if (type == "error" || has_error) return builder_.Fail(FailureFromObject(data));
  if (const Take take = TakerOf(type)) (this->*take)(read);
  if (growing_ != nullptr)
    shape_.Learn(event, data, std::array{read.delta, read.sequence_number, read.obfuscation});
}

EventDecoder::Take EventDecoder::TakerOf(std::string_view type) {
  struct Row {
    std::string_view type;
    Take take;
  };
  static constexpr std::array kRows = {
      Row{"output_text.delta", &EventDecoder::TakeTextDelta},
      Row{"function_call_arguments.delta", &EventDecoder::TakeArgsDelta},
      Row{"reasoning_summary_text.delta", &EventDecoder::TakeReasoningDelta},
      Row{"reasoning_text.delta", &EventDecoder::TakeReasoningDelta},
      Row{"refusal.delta", &EventDecoder::TakeRefusalDelta},
      Row{"output_text.done", &EventDecoder::TakeTextDone},
      Row{"function_call_arguments.done", &EventDecoder::TakeArgsDone},
      Row{"reasoning_summary_text.done", &EventDecoder::TakeReasoningDone},
      Row{"reasoning_text.done", &EventDecoder::TakeReasoningDone},
      Row{"refusal.done", &EventDecoder::TakeRefusalDone},
      Row{"output_item.added", &EventDecoder::TakeItemAdded},
      Row{"output_item.done", &EventDecoder::TakeItemDone},
      Row{"created", &EventDecoder::TakeStart},
      Row{"in_progress", &EventDecoder::TakeStart},
      Row{"completed", &EventDecoder::TakeCompleted},
      Row{"incomplete", &EventDecoder::TakeIncomplete},
      Row{"failed", &EventDecoder::TakeFailed},
  };
  constexpr std::string_view kPrefix = "response.";
  if (!type.starts_with(kPrefix)) return nullptr;
  const auto* found = std::ranges::find(kRows, type.substr(kPrefix.size()), &Row::type);
  return found == kRows.end() ? nullptr : found->take;
}

void EventDecoder::TakeStart(const Event& event) {
  if (const std::string model = event.response["model"].StringOr(""); !model.empty())
    builder_.Start(model);
}

void EventDecoder::TakeItemAdded(const Event& event) {
  Item* item = NewItem(event, KindOf(event.item), event.item["id"].StringOr(""));
  if (item == nullptr) return;
  if (item->kind == Kind::kMessage) item->phase = PhaseOf(event.item);
  if (item->kind == Kind::kCall) NameCall(*item, event.item);
}

void EventDecoder::NameCall(Item& item, const JsonView& call) {
  const std::string name = call["name"].StringOr("");
  builder_.SetNativeId(*item.block, call["call_id"].StringOr(""));
  builder_.SetToolName(*item.block, name);
  item.is_named = item.is_named || !name.empty();
}

void EventDecoder::TakeTextDelta(const Event& event) {
  Item* item = ItemOf(event, Kind::kMessage, "");
  const std::string text = event.delta.StringOr("");
  if (item == nullptr || item->is_done || text.empty()) return;
  AddText(*item, PartOf(event, *item), text);
  growing_ = item;
}

void EventDecoder::TakeTextDone(const Event& event) {
  if (Item* item = ItemOf(event, Kind::kMessage, ""))
    CompleteText(*item, PartOf(event, *item), event.text.StringOr(""));
}

void EventDecoder::TakeRefusalDelta(const Event& event) {
  refused_ = true;
  TakeTextDelta(event);
}

void EventDecoder::TakeRefusalDone(const Event& event) {
  refused_ = true;
  if (Item* item = ItemOf(event, Kind::kMessage, ""))
    CompleteText(*item, PartOf(event, *item), event.refusal.StringOr(""));
}

void EventDecoder::AddText(Item& item, std::int64_t part, std::string_view text) {
  if (text.empty() || item.is_done) return;
  if (part != item.part) CloseText(item);
  item.part = part;
  if (!item.block) item.block = builder_.OpenText();
  builder_.Append(*item.block, text);
  if (!builder_.done()) item.said += text;
}

void EventDecoder::CompleteText(Item& item, std::int64_t part, std::string_view text) {
  if (part < item.part) return;
  const std::string_view said = part == item.part ? std::string_view(item.said) : "";
  if (text.starts_with(said)) AddText(item, part, text.substr(said.size()));
}

void EventDecoder::CloseText(Item& item) {
  if (item.block) {
    if (!item.phase.empty()) builder_.SetSignature(*item.block, item.phase);
    builder_.Close(*item.block);
  }
  item.block.reset();
  item.said.clear();
}

// Parts of a summary are paragraphs. Reasoning itself, where a server shows it, has one part.
void EventDecoder::TakeReasoningDelta(const Event& event) {
  Item* item = ItemOf(event, Kind::kReasoning, "");
  std::string text = event.delta.StringOr("");
  if (item == nullptr || item->is_done || text.empty()) return;
  const std::int64_t part = PartOf(event, *item);
  if (part != item->part && !item->said.empty()) text.insert(0, "\n\n");
  item->part = part;
  if (!item->block) item->block = builder_.OpenThinking();
  builder_.Append(*item->block, text);
  if (!builder_.done()) item->said += text;
}

void EventDecoder::TakeReasoningDone(const Event& event) {
  const Item* item = ItemOf(event, Kind::kReasoning, "");
  if (item == nullptr || (PartOf(event, *item) <= item->part && !item->said.empty())) return;
  Event whole = event;
  whole.delta = event.text;
  TakeReasoningDelta(whole);
}

void EventDecoder::TakeArgsDelta(const Event& event) {
  const std::string piece = event.delta.StringOr("");
  Item* item = piece.empty() ? nullptr : ItemOf(event, Kind::kCall, "");
  if (item == nullptr || item->is_done) return;
  builder_.AppendArgs(*item->block, piece);
  if (!builder_.done()) item->said += piece;
}

void EventDecoder::CompleteArgs(Item& item, std::string_view args) {
  if (!args.starts_with(item.said)) return;
  builder_.AppendArgs(*item.block, args.substr(item.said.size()));
  if (!builder_.done()) item.said = args;
}

void EventDecoder::TakeArgsDone(const Event& event) {
  Item* item = ItemOf(event, Kind::kCall, "");
  if (item == nullptr || item->is_done) return;
  const std::string args = openai::ArgumentsOf(event.arguments);
  CompleteArgs(*item, args);
  if (item->is_named && !args.empty()) builder_.Close(*item->block);
}

void EventDecoder::TakeWhole(const Event& event, const JsonView& whole) {
  const Kind kind = KindOf(whole);
  Item* item = ItemOf(event, kind, whole["id"].StringOr(""));
  if (item == nullptr || item->is_done) return;
  if (kind == Kind::kMessage) TakeWholeMessage(*item, whole);
  if (kind == Kind::kReasoning) TakeWholeReasoning(*item, whole);
  if (kind == Kind::kCall) TakeWholeCall(*item, whole);
  item->is_done = true;
  item->said.clear();
}

void EventDecoder::TakeWholeMessage(Item& item, const JsonView& whole) {
  if (std::string phase = PhaseOf(whole); !phase.empty()) item.phase = std::move(phase);
  std::int64_t part = 0;
  whole["content"].ForEach([&](const JsonView& content) {
    const std::string refusal = content["refusal"].StringOr("");
    refused_ = refused_ || !refusal.empty();
    CompleteText(item, part++, refusal.empty() ? content["text"].StringOr("") : refusal);
  });
  CloseText(item);
}

void EventDecoder::TakeWholeReasoning(Item& item, const JsonView& whole) {
  std::string text = JoinedTexts(whole["summary"]);
  if (text.empty()) text = JoinedTexts(whole["content"]);
  if (!item.block && !text.empty()) item.block = builder_.OpenThinking();
  const Result<Raw> kept = Raw::From(whole.text());
  const bool keep = kept && CanGoBack(whole);
  if (!item.block) {
    if (keep) builder_.AddRedacted(*kept);
    return;
  }
  if (text.starts_with(item.said)) builder_.Append(*item.block, text.substr(item.said.size()));
  if (keep) builder_.SetSignature(*item.block, kept->text);
  builder_.Close(*item.block);
}

void EventDecoder::TakeWholeCall(Item& item, const JsonView& whole) {
  NameCall(item, whole);
  CompleteArgs(item, openai::ArgumentsOf(whole["arguments"]));
  builder_.Close(*item.block);
}

Item* EventDecoder::ItemOf(const Event& event, Kind kind, std::string_view id) {
  if (const std::optional<std::int64_t> index = event.output_index.Int()) {
    const auto found = by_index_.find(*index);
    if (found != by_index_.end() && items_[found->second].kind == kind)
      return &items_[found->second];
    return NewItem(event, kind, id);
  }
  const std::string event_id = event.item_id.StringOr(id);
  for (std::size_t i = items_.size(); i-- > 0;) {
    Item& item = items_[i];
    if (item.kind != kind) continue;
    if (event_id.empty() || item.id.empty() ? !item.is_done : item.id == event_id) return &item;
  }
  return NewItem(event, kind, event_id);
}

Item* EventDecoder::NewItem(const Event& event, Kind kind, std::string_view id) {
  constexpr std::size_t kMaxId = 256;  // A longer one is as good as none: what is kept is bounded.
  if (items_.size() >= ReplyBuilder::kMaxBlocks)
    builder_.Fail({.kind = FailureKind::kProtocol, .message = "the reply has too many items"});
  if (builder_.done()) return nullptr;
  Item& item = items_.emplace_back(Item{.kind = kind});
  if (id.size() <= kMaxId) item.id = id;
  if (kind == Kind::kCall) item.block = builder_.OpenToolCall("", "");
  if (const std::optional<std::int64_t> index = event.output_index.Int())
    by_index_[*index] = items_.size() - 1;
  return &item;
}

void EventDecoder::TakeCompleted(const Event& event) {
  const std::string status = event.response["status"].StringOr("completed");
  if (status == "failed") return TakeFailed(event);
  if (status == "incomplete") return TakeIncomplete(event);
  TakeOutput(event);
  builder_.Stop(refused_ ? stop::kRefused : stop::kEnd);
  builder_.End();
}

void EventDecoder::TakeIncomplete(const Event& event) {
  TakeOutput(event);
  const std::string reason = event.response["incomplete_details"]["reason"].StringOr("");
  builder_.Stop(reason == "max_output_tokens" ? stop::kMaxTokens
                : reason == "content_filter"  ? stop::kRefused
                                              : stop::kOther);
  builder_.End();
}

void EventDecoder::TakeOutput(const Event& event) {
  TakeStart(event);
  if (items_.empty())
    event.response["output"].ForEach([&](const JsonView& item) { TakeWhole(Event(), item); });
  for (Item& item : items_) {
    if (item.kind == Kind::kMessage) CloseText(item);
  }
  TakeUsage(event);
}

void EventDecoder::TakeUsage(const Event& event) {
  if (const std::optional<protocol::Usage> usage = ReadUsage(event.response["usage"]))
    builder_.Report(*usage, true);
}

void EventDecoder::TakeFailed(const Event& event) {
  TakeUsage(event);
  const JsonView error = event.response["error"];
  builder_.Fail(error && !error.is_null()
                    ? FailureFromObject(error.text())
                    : Failure{.message = "the server failed and does not say why"});
}

}  // namespace

std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder) {
  return std::make_unique<EventDecoder>(builder);
}

}  // namespace stet::provider::openai_responses
