// ReplyBuilder: what all dialects share when they turn a wire into the stream. It numbers blocks,
// mints tool call ids, keeps what was said, tells the sink, and bounds memory.
//
// A decoder opens a block and gets a handle for it; the block's number on the stream is given when
// it first has something to show, so an empty text block never appears. Text must be valid UTF-8.
// Once failed or ended, every call does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "protocol/content.h"
#include "provider/failure.h"
#include "provider/model.h"
#include "provider/stream.h"

namespace stet::provider {

/// What came of one attempt.
struct Reply {
  protocol::AssistantContent content;  // Complete blocks, and the text of an unfinished text block.
  bool partial = false;                // It broke off: `failure` says why.
  std::optional<Failure> failure;
  bool usage_final = false;  // The usage in `content` is the server's last word.
};

class ReplyBuilder {
 public:
  /// More than this in one reply is a kProtocol failure.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxBlocks = 10'000;

  using Handle = std::size_t;

  /// All three must outlive the builder.
  ReplyBuilder(const Model& model, Sink& sink, Random& ids);

  /// The reply begins; `model` as the server names it, may be empty. Later calls do nothing.
  void Start(std::string_view model);

  Handle OpenText();
  Handle OpenThinking();
  /// `name` may be empty and come later; the block starts on the stream when it is known.
  Handle OpenToolCall(std::string_view name, std::string_view native_id);
  void SetToolName(Handle call, std::string_view name);
  void SetNativeId(Handle call, std::string_view native_id);

  /// To a text or thinking block.
  void Append(Handle block, std::string_view text);
  /// A piece of a call's arguments, as JSON text.
  void AppendArgs(Handle call, std::string_view json);
  /// Of any block; replaces the one before.
  void SetSignature(Handle block, std::string_view signature);
  /// A block that is complete at once.
  void AddRedacted(Raw data);

  /// Whether the arguments so far are a whole JSON object: the call may be closed.
  [[nodiscard]] bool HasWholeArgs(Handle call) const;
  [[nodiscard]] bool is_open(Handle block) const;
  /// Arguments that are empty become {}; arguments that are not JSON become a JSON string of their
  /// text, so that nothing is lost and the loop can answer that they are malformed.
  void Close(Handle block);
  void CloseAll();

  void Report(const protocol::Usage& usage, bool final_word);
  /// A reply that stops for kEnd but has tool calls is said to stop for kToolUse.
  void Stop(std::string_view reason);
  /// The end mark was seen: closes what is open.
  void End();
  void Fail(Failure failure);

  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool failed() const { return failure_.has_value(); }
  [[nodiscard]] bool done() const { return ended_ || failed(); }
  /// Text was shown or a tool call completed: the attempt cannot be repeated unseen.
  [[nodiscard]] bool committed() const { return committed_; }
  [[nodiscard]] std::optional<protocol::Usage> usage() const { return usage_; }

  /// Ends the builder's life: everything complete, and of unfinished blocks only text.
  Reply TakeReply();

 private:
  enum class Kind { kText, kThinking, kToolCall, kRedacted };
  struct Slot {
    Kind kind = Kind::kText;
    bool open = true;
    std::int64_t index = -1;  // On the stream; -1: not started there.
    std::string text;         // Text, thinking or arguments.
    std::string tool_call_id;
    std::string native_id;
    std::string name;
    std::optional<std::string> signature;
    Raw data;
  };

  Handle Open(Kind kind);
  void StartOnStream(Slot& slot);
  bool Grow(std::size_t bytes);
  void Emit(const StreamEvent& event);
  template <class Delta>
  void EmitDelta(std::int64_t index, std::string_view text);
  [[nodiscard]] protocol::Block BlockOf(const Slot& slot) const;

  const Model& model_;
  Sink& sink_;
  Random& ids_;
  std::vector<Slot> slots_;
  std::vector<Handle> order_;  // By index on the stream.
  std::size_t bytes_ = 0;
  bool started_ = false;
  bool stopped_ = false;
  bool ended_ = false;
  bool committed_ = false;
  bool usage_final_ = false;
  std::string stop_reason_;
  std::optional<protocol::Usage> usage_;
  std::optional<Failure> failure_;
  StreamEvent delta_;  // The last delta on the stream.
};

}  // namespace stet::provider
