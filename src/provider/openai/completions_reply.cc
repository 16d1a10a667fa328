// openai-completions: how the chunks of POST {base}/chat/completions are read.
//
// Dozens of servers speak this wire, each in its own way. The rules that make sense of all of them:
// reasoning, text and calls are blocks that end when the next one begins; a call is known by its
// index, else by its id, else by being the last one; the reply is complete at [DONE], and without
// it when a finish_reason was seen.
#include <unordered_map>

#include "provider/dialect.h"
#include "provider/event_shape.h"
#include "provider/openai/wire.h"

namespace stet::provider::openai_completions {
namespace {

using openai::ReadMembers;
using openai::Wanted;
using Handle = ReplyBuilder::Handle;

struct Chunk {
  JsonView choices;
  JsonView usage;
  JsonView model;
  JsonView error;
  JsonView object;
  JsonView x_groq;
  JsonView obfuscation;  // Noise that hides how long the text is.
};
constexpr std::array kChunk = {
    Wanted<Chunk>{"choices", &Chunk::choices},
    Wanted<Chunk>{"usage", &Chunk::usage},
    Wanted<Chunk>{"model", &Chunk::model},
    Wanted<Chunk>{"error", &Chunk::error},
    Wanted<Chunk>{"object", &Chunk::object},
    Wanted<Chunk>{"x_groq", &Chunk::x_groq},
    Wanted<Chunk>{"obfuscation", &Chunk::obfuscation},
};

struct Choice {
  JsonView index;
  JsonView delta;
  JsonView finish_reason;
  JsonView usage;
  JsonView error;
};
constexpr std::array kChoice = {
    Wanted<Choice>{"index", &Choice::index},
    Wanted<Choice>{"delta", &Choice::delta},
    Wanted<Choice>{"finish_reason", &Choice::finish_reason},
    Wanted<Choice>{"usage", &Choice::usage},
    Wanted<Choice>{"error", &Choice::error},
};

struct Delta {
  JsonView content;
  JsonView refusal;
  JsonView reasoning_content;
  JsonView reasoning;
  JsonView details;
  JsonView tool_calls;
  JsonView function_call;
};
constexpr std::array kDelta = {
    Wanted<Delta>{"content", &Delta::content},
    Wanted<Delta>{"refusal", &Delta::refusal},
    Wanted<Delta>{"reasoning_content", &Delta::reasoning_content},
    Wanted<Delta>{"reasoning", &Delta::reasoning},
    Wanted<Delta>{"reasoning_details", &Delta::details},
    Wanted<Delta>{"tool_calls", &Delta::tool_calls},
    Wanted<Delta>{"function_call", &Delta::function_call},
};

/// Whether a member, whichever it is, adds nothing to the reply.
bool IsIdle(const JsonView& member) {
  return !member || member.is_null() || member.text() == R"("")" || member.text() == "[]";
}

/// The one string that the delta adds to the reply; absent when it adds more or something else.
JsonView OnlyTextOf(const Delta& delta) {
  JsonView only;
  for (const JsonView& member : {delta.content, delta.reasoning_content, delta.reasoning}) {
    if (IsIdle(member)) continue;
    if (only || !member.is_string()) return {};
    only = member;
  }
  const bool rest_is_idle = IsIdle(delta.refusal) && IsIdle(delta.details) &&
                            IsIdle(delta.tool_calls) && IsIdle(delta.function_call);
  return rest_is_idle ? only : JsonView();
}

/// A piece of a tool call.
struct Piece {
  std::optional<std::int64_t> index;
  std::string id;
  std::string name;
  std::string args;
};

Piece PieceOf(const JsonView& function) {
  return {.name = function["name"].StringOr(""),
          .args = openai::ArgumentsOf(function["arguments"])};
}

/// The stop a finish_reason means; absent when it means that the server failed. The builder knows
/// whether there were calls, and servers often say "stop" when there were.
std::optional<std::string_view> StopOf(std::string_view reason) {
  if (reason == "stop" || reason == "tool_calls" || reason == "function_call") return stop::kEnd;
  if (reason == "length" || reason == "model_length") return stop::kMaxTokens;
  if (reason == "content_filter" || reason == "sensitive") return stop::kRefused;
  if (reason == "error" || reason == "network_error") return std::nullopt;
  if (reason == "insufficient_system_resource") return std::nullopt;
  return stop::kOther;
}

std::optional<protocol::Usage> ReadUsage(const JsonView& usage) {
  const std::optional<std::int64_t> prompt = usage["prompt_tokens"].Int();
  const std::optional<std::int64_t> completion = usage["completion_tokens"].Int();
  if (!prompt && !completion) return std::nullopt;
  openai::Tokens tokens{.input = prompt.value_or(0), .output = completion.value_or(0)};
  const JsonView details = usage["prompt_tokens_details"];
  tokens.cache_read = details["cached_tokens"].Int();
  if (!tokens.cache_read) tokens.cache_read = usage["prompt_cache_hit_tokens"].Int();
  if (!tokens.cache_read) tokens.cache_read = usage["cached_tokens"].Int();
  tokens.cache_write = details["cache_write_tokens"].Int();
  tokens.reasoning = usage["completion_tokens_details"]["reasoning_tokens"].Int();
  tokens.total = usage["total_tokens"].Int();
  return UsageOf(tokens);
}

class ChunkDecoder : public Decoder {
 public:
  explicit ChunkDecoder(ReplyBuilder& builder) : builder_(builder) {}

  void On(std::string_view event, std::string_view data) override;
  void Finish() override;

 private:
  struct Call {
    Handle block = 0;
    std::string id;
    std::string name;
    bool examined = false;  // Looking at the arguments once keeps the work linear.
  };

  // These two give the string that they added to `growing_`, unless more happened than that.
  JsonView TakeChoice(JsonReader& reader, std::int64_t position);
  JsonView TakeDelta(const JsonView& element);
  void TakeContent(const JsonView& content);
  void TakeDetails(const JsonView& details, bool show);
  void TakeUsage(const JsonView& usage);
  void TakeFinish(std::string_view reason);

  void AddText(std::string_view text);
  void AddThinking(std::string_view text);
  void AddPiece(const Piece& piece);
  std::optional<std::size_t> CallOf(const Piece& piece);
  bool StartsAnew(Call& call, const Piece& piece);
  std::optional<std::size_t> CallWithId(std::string_view id) const;
  std::size_t NewCall(const Piece& piece);

  bool CloseIfWhole(Call& call);
  void CloseThinking();
  void CloseText();
  void CloseWholeCall();
  void Sign(Handle block);
  void CloseAll();
  void Complete();

  ReplyBuilder& builder_;
  bool started_ = false;
  bool has_blocks_ = false;
  bool has_reasoning_ = false;  // As a string; details repeat it then.
  bool refused_ = false;
  std::optional<std::string_view> stop_;
  std::optional<Handle> text_;
  std::optional<Handle> thinking_;
  std::string details_;  // Not yet in a signature: elements of an array.
  std::vector<Call> calls_;
  std::size_t last_call_ = 0;
  std::unordered_map<std::int64_t, std::size_t> by_index_;
  EventShape shape_;    // Of the last chunk, if all it did was to add text.
  Handle growing_ = 0;  // What that text was added to; valid while there is a shape.
};

void ChunkDecoder::On(std::string_view event, std::string_view data) {
  if (builder_.done()) return;
  if (shape_.Fits(event, data)) return builder_.Append(growing_, shape_.Text());
  shape_.Forget();
  if (data == "[DONE]") return Complete();
  Chunk chunk;
  if (!ReadMembers(JsonView(data), kChunk, chunk)) return openai::RefuseUnlessJson(data, builder_);
  const bool is_error = chunk.error && !chunk.error.is_null();
  if (is_error || event == "error" || chunk.object.text() == "\"error\"")
    return builder_.Fail(FailureFromObject(data));
  if (!started_ && chunk.model.is_string() && chunk.model.text() != "\"\"") {
    started_ = true;
    builder_.Start(chunk.model.StringOr(""));
  }
  JsonView added;
  std::int64_t count = 0;
  JsonReader choices(chunk.choices.text());
  if (chunk.choices.is_array() && choices.EnterArray()) {
    while (choices.NextElement()) added = TakeChoice(choices, count++);
  }
  if (count == 1 && IsIdle(chunk.usage) && IsIdle(chunk.x_groq))
    shape_.Learn(event, data, std::array{added, chunk.obfuscation});
  TakeUsage(chunk.usage);
  TakeUsage(chunk.x_groq["usage"]);
}

JsonView ChunkDecoder::TakeChoice(JsonReader& reader, std::int64_t position) {
  Choice choice;
  ReadMembers(reader, kChoice, choice);
  if (builder_.done() || choice.index.IntOr(position) != 0) return {};
  const JsonView added = TakeDelta(choice.delta);
  if (choice.error && !choice.error.is_null()) {
    builder_.Fail(FailureFromObject(choice.error.text()));
    return {};
  }
  if (choice.finish_reason.is_string()) TakeFinish(choice.finish_reason.StringOr(""));
  TakeUsage(choice.usage);
  return IsIdle(choice.finish_reason) && IsIdle(choice.usage) ? added : JsonView();
}

JsonView ChunkDecoder::TakeDelta(const JsonView& element) {
  Delta delta;
  ReadMembers(element, kDelta, delta);
  std::string reasoning = delta.reasoning_content.StringOr("");
  if (reasoning.empty()) reasoning = delta.reasoning.StringOr("");
  has_reasoning_ = has_reasoning_ || !reasoning.empty();
  AddThinking(reasoning);
  if (delta.details) TakeDetails(delta.details, !has_reasoning_);
  if (delta.content) TakeContent(delta.content);
  if (delta.refusal) {
    const std::string refusal = delta.refusal.StringOr("");
    refused_ = refused_ || !refusal.empty();
    AddText(refusal);
  }
  delta.tool_calls.ForEach([&](const JsonView& call) {
    Piece piece = PieceOf(call["function"]);
    piece.index = call["index"].Int();
    piece.id = call["id"].StringOr("");
    AddPiece(piece);
  });
  if (delta.function_call.is_object()) {
    Piece piece = PieceOf(delta.function_call);
    piece.index = -1;  // There is only one, and it has no id.
    AddPiece(piece);
  }
  const JsonView only = OnlyTextOf(delta);
  if (only) growing_ = only.text().data() == delta.content.text().data() ? *text_ : *thinking_;
  return only;
}

void ChunkDecoder::TakeContent(const JsonView& content) {
  if (content.is_string()) return AddText(content.StringOr(""));
  content.ForEach([&](const JsonView& part) {
    AddText(part["text"].StringOr(""));
    const JsonView thinking = part["thinking"];
    AddThinking(thinking.StringOr(""));
    thinking.ForEach([&](const JsonView& piece) { AddThinking(piece["text"].StringOr("")); });
  });
}

void ChunkDecoder::TakeDetails(const JsonView& details, bool show) {
  details.ForEach([&](const JsonView& detail) {
    if (!detail.is_object() || builder_.done()) return;
    if (details_.size() + detail.text().size() > ReplyBuilder::kMaxBytes)
      return builder_.Fail(
          {.kind = FailureKind::kProtocol, .message = "the reply's reasoning is too large"});
    if (show) {
      AddThinking(detail["text"].StringOr(""));
      AddThinking(detail["summary"].StringOr(""));
    }
    if (!details_.empty()) details_ += ',';
    details_ += detail.text();
  });
  const bool is_first = !has_blocks_ && !details_.empty();
  if (!is_first || builder_.done()) return;
  thinking_ = builder_.OpenThinking();
  has_blocks_ = true;
}

void ChunkDecoder::TakeUsage(const JsonView& usage) {
  if (!usage.is_object()) return;
  if (const std::optional<protocol::Usage> read = ReadUsage(usage))
    builder_.Report(*read, stop_.has_value());
}

void ChunkDecoder::TakeFinish(std::string_view reason) {
  if (reason.empty() || stop_ || builder_.done()) return;
  stop_ = StopOf(reason);
  if (stop_) return CloseAll();
  builder_.Fail({.kind = reason == "insufficient_system_resource" ? FailureKind::kOverloaded
                                                                  : FailureKind::kServer,
                 .message = "the server ended the reply with: " + std::string(reason)});
}

void ChunkDecoder::AddText(std::string_view text) {
  if (text.empty()) return;
  if (!text_) {
    CloseThinking();
    CloseWholeCall();
    text_ = builder_.OpenText();
    has_blocks_ = true;
  }
  builder_.Append(*text_, text);
}

void ChunkDecoder::AddThinking(std::string_view text) {
  if (text.empty()) return;
  if (!thinking_) {
    CloseText();
    CloseWholeCall();
    thinking_ = builder_.OpenThinking();
    has_blocks_ = true;
  }
  builder_.Append(*thinking_, text);
}

void ChunkDecoder::AddPiece(const Piece& piece) {
  const bool is_empty = piece.id.empty() && piece.name.empty() && piece.args.empty();
  if (builder_.done() || is_empty) return;
  const std::optional<std::size_t> known = CallOf(piece);
  last_call_ = known ? *known : NewCall(piece);
  Call& call = calls_[last_call_];
  if (call.id.empty()) call.id = piece.id;
  if (call.name.empty()) call.name = piece.name;
  builder_.SetNativeId(call.block, piece.id);
  builder_.SetToolName(call.block, piece.name);
  builder_.AppendArgs(call.block, piece.args);
}

std::optional<std::size_t> ChunkDecoder::CallOf(const Piece& piece) {
  if (piece.index) {
    const auto found = by_index_.find(*piece.index);
    if (found == by_index_.end() || StartsAnew(calls_[found->second], piece)) return std::nullopt;
    return found->second;
  }
  if (!piece.id.empty()) return CallWithId(piece.id);
  if (calls_.empty()) return std::nullopt;
  const Call& last = calls_[last_call_];
  if (!piece.name.empty() && (last.id.empty() || last.name != piece.name)) return std::nullopt;
  return last_call_;
}

/// Whether a piece with the index of `call` is another call all the same.
bool ChunkDecoder::StartsAnew(Call& call, const Piece& piece) {
  if (!piece.id.empty() && !call.id.empty()) return piece.id != call.id;
  if (piece.name.empty() || call.name.empty()) return false;
  if (piece.name != call.name) return true;
  // A server that numbers all calls 0 sends each of them whole.
  return piece.args.starts_with('{') && (!builder_.is_open(call.block) || CloseIfWhole(call));
}

std::optional<std::size_t> ChunkDecoder::CallWithId(std::string_view id) const {
  for (std::size_t i = calls_.size(); i-- > 0;) {
    if (calls_[i].id == id) return i;
  }
  return std::nullopt;
}

std::size_t ChunkDecoder::NewCall(const Piece& piece) {
  CloseThinking();
  CloseText();
  CloseWholeCall();
  calls_.push_back({.block = builder_.OpenToolCall(piece.name, piece.id)});
  has_blocks_ = true;
  if (piece.index) by_index_[*piece.index] = calls_.size() - 1;
  return calls_.size() - 1;
}

bool ChunkDecoder::CloseIfWhole(Call& call) {
  if (call.examined) return false;
  call.examined = true;
  if (!builder_.HasWholeArgs(call.block)) return false;
  builder_.Close(call.block);
  return true;
}

void ChunkDecoder::CloseThinking() {
  if (!thinking_) return;
  Sign(*thinking_);
  builder_.Close(*thinking_);
  thinking_.reset();
}

void ChunkDecoder::CloseText() {
  if (text_) builder_.Close(*text_);
  text_.reset();
}

void ChunkDecoder::CloseWholeCall() {
  if (!calls_.empty()) CloseIfWhole(calls_[last_call_]);
}

void ChunkDecoder::Sign(Handle block) {
  if (!details_.empty()) builder_.SetSignature(block, "[" + details_ + "]");
  details_.clear();
}

void ChunkDecoder::CloseAll() {
  CloseThinking();
  // Details that came behind the reasoning go with the last block, so that they are not lost.
  if (text_) {
    Sign(*text_);
  } else if (!calls_.empty()) {
    Sign(calls_[last_call_].block);
  }
  builder_.CloseAll();
  text_.reset();
}

void ChunkDecoder::Complete() {
  if (!stop_ && !has_blocks_) return builder_.Fail(openai::BrokenOff());
  CloseAll();
  const std::string_view reason = stop_.value_or(stop::kEnd);
  builder_.Stop(refused_ && reason == stop::kEnd ? stop::kRefused : reason);
  builder_.End();
}

void ChunkDecoder::Finish() {
  if (builder_.done()) return;
  if (!stop_) return builder_.Fail(openai::BrokenOff());
  Complete();
}

}  // namespace

std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder) {
  return std::make_unique<ChunkDecoder>(builder);
}

}  // namespace stet::provider::openai_completions
