// Replies in the dialect of Anthropic's Messages.
#include <algorithm>

#include "base/utf8.h"
#include "json/members.h"
#include "provider/dialect.h"
#include "provider/event_shape.h"

namespace stet::provider::anthropic_messages {
namespace {

Failure NotJson(std::string_view data) {
  constexpr std::size_t kMaxQuote = 200;
  return {.kind = FailureKind::kGarbled,
          .message = "the server sent an event that is not a JSON object: " +
                     std::string(data.substr(0, Utf8PrefixLength(data, kMaxQuote)))};
}

std::string_view StopReason(std::string_view wire) {
  if (wire == "end_turn") return stop::kEnd;
  if (wire == "tool_use") return stop::kToolUse;
  if (wire == "max_tokens") return stop::kMaxTokens;
  if (wire == "stop_sequence") return stop::kStopSequence;
  if (wire == "pause_turn") return stop::kPaused;
  if (wire == "refusal") return stop::kRefused;
  if (wire == "model_context_window_exceeded") return stop::kOverflow;
  return stop::kOther;
}

/// Replaces a count by a newer one, if there is one.
template <class Number>
void Update(Number& count, const JsonView& newer) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  if (const std::optional<std::int64_t> number = newer.Int())
    count = std::clamp<std::int64_t>(*number, 0, kMost);
}

class MessagesDecoder : public Decoder {
 public:
  explicit MessagesDecoder(ReplyBuilder& builder) : builder_(builder) {}

  void On(std::string_view event, std::string_view data) override {
    if (builder_.done()) return;
    if (shape_.Fits(event, data)) {  // Nearly all of them.
      Add(*growing_, shape_.Text());
      return;
    }
    shape_.Forget();
    constexpr MemberNames<7> kMembers = {"type",    "index", "delta", "content_block",
                                         "message", "usage", "error"};
    const auto members = MembersOf(data, kMembers);
    if (!members) {
      builder_.Fail(NotJson(data));
      return;
    }
    const auto& [type, index, delta, block, message, usage, error] = *members;
    const std::string kind = type.StringOr(error.is_object() ? "error" : event);
    const std::int64_t number = index.IntOr(-1);
    if (kind == "content_block_delta") {
      shape_.Learn(event, data, std::array{OnDelta(number, delta)});
    } else if (kind == "content_block_start") {
      OnBlockStart(number, block);
    } else if (kind == "content_block_stop") {
      OnBlockStop(number);
    } else if (kind == "message_start") {
      builder_.Start(message["model"].StringOr(""));
      TakeUsage(message["usage"], /*final_word=*/false);
    } else if (kind == "message_delta") {
      OnMessageDelta(delta["stop_reason"], usage);
    } else if (kind == "message_stop") {
      CloseAll();
      builder_.End();
    } else if (kind == "error") {
      OnError(error ? error.text() : data, data);
    }
  }

  void Finish() override {
    builder_.Fail({.kind = FailureKind::kTruncated,
                   .message = "the reply ended before the server said that it was complete"});
  }

 private:
  enum class Kind { kText, kThinking, kToolCall };
  struct OpenBlock {
    std::int64_t number = 0;  // On the wire.
    ReplyBuilder::Handle handle = 0;
    Kind kind = Kind::kText;
    std::string at_start;  // Content that came with the start; some servers send no deltas.
    bool has_delta = false;
  };

  /// The latest one of that number; null when it is of no kind that we know.
  OpenBlock* Find(std::int64_t number) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const OpenBlock& block) { return block.number == number; });
    return found == open_.rend() ? nullptr : &*found;
  }

  void OnBlockStart(std::int64_t number, const JsonView& block) {
    OnBlockStop(number);
    const std::string type = block["type"].StringOr("");
    OpenBlock opened{.number = number};
    if (type == "text") {
      opened.handle = builder_.OpenText();
      opened.at_start = block["text"].StringOr("");
    } else if (type == "thinking") {
      opened.kind = Kind::kThinking;
      opened.handle = builder_.OpenThinking();
      opened.at_start = block["thinking"].StringOr("");
      const std::string signature = block["signature"].StringOr("");
      if (!signature.empty()) builder_.SetSignature(opened.handle, signature);
    } else if (type == "tool_use") {
      const std::string name = block["name"].StringOr("");
      // A call without a tool's name could be neither run nor replayed.
      if (name.empty()) return;
      opened.kind = Kind::kToolCall;
      opened.handle = builder_.OpenToolCall(name, block["id"].StringOr(""));
      const JsonView input = block["input"];
      if (input.is_object() && input.text() != "{}") opened.at_start = input.text();
    } else {
      const JsonView data = block["data"];
      if (type == "redacted_thinking" && data.is_string())
        builder_.AddRedacted(Raw{std::string(data.text())});
      return;
    }
    open_.push_back(std::move(opened));
  }

  /// The string that was added to `growing_`, unless more happened than that.
  JsonView OnDelta(std::int64_t number, const JsonView& delta) {
    growing_ = Find(number);
    if (growing_ == nullptr) return {};
    constexpr MemberNames<4> kMembers = {"text", "thinking", "partial_json", "signature"};
    const auto members = MembersOf(delta.text(), kMembers);
    if (!members) return {};
    const auto& [text, thinking, partial_json, signature] = *members;
    const JsonView& piece = growing_->kind == Kind::kText       ? text
                            : growing_->kind == Kind::kToolCall ? partial_json
                                                                : thinking;
    Add(*growing_, piece.StringOr(""));
    if (growing_->kind != Kind::kThinking || !signature.is_string()) return piece;
    builder_.SetSignature(growing_->handle, signature.StringOr(""));
    return {};
  }

  void Add(OpenBlock& block, std::string_view text) {
    if (text.empty()) return;
    block.has_delta = true;
    Append(block, text);
  }

  void Append(const OpenBlock& block, std::string_view text) {
    if (block.kind == Kind::kToolCall)
      builder_.AppendArgs(block.handle, text);
    else
      builder_.Append(block.handle, text);
  }

  void OnBlockStop(std::int64_t number) {
    const OpenBlock* block = Find(number);
    if (block == nullptr) return;
    Close(*block);
    open_.erase(open_.begin() + (block - open_.data()));
  }

  void Close(const OpenBlock& block) {
    if (!block.has_delta) Append(block, block.at_start);
    builder_.Close(block.handle);
  }

  void CloseAll() {
    for (const OpenBlock& block : open_) Close(block);
    open_.clear();
  }

  void OnMessageDelta(const JsonView& reason, const JsonView& usage) {
    TakeUsage(usage, reason.is_string());
    if (!reason.is_string()) return;
    CloseAll();
    builder_.Stop(StopReason(reason.StringOr("")));
  }

  /// Counts grow through the reply, and a later report may leave some out.
  void TakeUsage(const JsonView& usage, bool final_word) {
    constexpr MemberNames<5> kMembers = {"input_tokens", "cache_read_input_tokens",
                                         "cache_creation_input_tokens", "output_tokens",
                                         "output_tokens_details"};
    const auto members = MembersOf(usage.text(), kMembers);
    if (!members) return;
    const auto& [input, cache_read, cache_write, output, details] = *members;
    Update(usage_.input, input);
    Update(usage_.cache_read, cache_read);
    Update(usage_.cache_write, cache_write);
    Update(usage_.output, output);
    Update(usage_.reasoning, details["thinking_tokens"]);
    protocol::Usage report = usage_;
    if (report.reasoning) report.reasoning = std::min(*report.reasoning, report.output);
    builder_.Report(report, final_word);
  }

  void OnError(std::string_view error, std::string_view event) {
    Failure failure = FailureFromObject(error);
    failure.request_id = JsonView(event)["request_id"].StringOr("");
    builder_.Fail(std::move(failure));
  }

  ReplyBuilder& builder_;
  std::vector<OpenBlock> open_;  // In the order they started.
  protocol::Usage usage_;
  EventShape shape_;              // Of the last delta.
  OpenBlock* growing_ = nullptr;  // What that delta was of; valid while there is a shape.
};

}  // namespace

std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder) {
  return std::make_unique<MessagesDecoder>(builder);
}

}  // namespace stet::provider::anthropic_messages
