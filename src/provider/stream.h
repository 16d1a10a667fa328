// The stream: what a model's reply is made of, in the order it happens, whatever the dialect.
//
// For one reply: MessageStart; per block BlockStart, deltas, BlockEnd (blocks are numbered from 0
// in the order they start; several may be open at once); Usage as often as it is reported, each
// replacing the one before; Stopped; MessageEnd. A failure ends the stream instead, with the Reply
// that says so. Before or between attempts: Waiting, Restarted (what was shown of the attempt is
// void), Switched, Stalled.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/content.h"

namespace stet::provider {

using protocol::OptionalInt;
using protocol::OptionalText;
using protocol::Text;

struct MessageStart {
  static constexpr std::string_view kTag = "message_start";
  STET_FIELDS(MessageStart, (Text, model))  // As the server names it.
};

struct BlockStart {
  static constexpr std::string_view kTag = "block_start";
  STET_FIELDS(BlockStart,
              (std::int64_t, index),
              (Text, kind),  // text, thinking, redacted_thinking, tool_call
              (OptionalText, tool_call_id),
              (OptionalText, tool_name))
};

struct TextDelta {
  static constexpr std::string_view kTag = "text_delta";
  STET_FIELDS(TextDelta, (std::int64_t, index), (Text, text))
};

struct ThinkingDelta {
  static constexpr std::string_view kTag = "thinking_delta";
  STET_FIELDS(ThinkingDelta, (std::int64_t, index), (Text, text))
};

/// A piece of the arguments' JSON text.
struct ToolCallDelta {
  static constexpr std::string_view kTag = "tool_call_delta";
  STET_FIELDS(ToolCallDelta, (std::int64_t, index), (Text, text))
};

/// The block is complete: a tool call may start now.
struct BlockEnd {
  static constexpr std::string_view kTag = "block_end";
  STET_FIELDS(BlockEnd, (std::int64_t, index), (protocol::Block, block))
};

struct UsageReported {
  static constexpr std::string_view kTag = "usage";
  STET_FIELDS(UsageReported, (protocol::Usage, usage))
};

struct Stopped {
  static constexpr std::string_view kTag = "stopped";
  STET_FIELDS(Stopped, (Text, reason))  // One of stop:: below.
};

struct MessageEnd {
  static constexpr std::string_view kTag = "message_end";
  STET_FIELDS(MessageEnd)
};

/// Nothing is sent before `until` (Unix milliseconds).
struct Waiting {
  static constexpr std::string_view kTag = "waiting";
  STET_FIELDS(Waiting,
              (Text, why),
              (std::int64_t, attempt),  // The one that failed, from 1.
              (std::int64_t, until))
};

struct Restarted {
  static constexpr std::string_view kTag = "restarted";
  STET_FIELDS(Restarted, (std::int64_t, attempt))
};

struct Switched {
  static constexpr std::string_view kTag = "switched";
  STET_FIELDS(Switched, (Text, from), (Text, to), (Text, why))
};

/// No byte for `idle_ms`; the stream is given up at `until`.
struct Stalled {
  static constexpr std::string_view kTag = "stalled";
  STET_FIELDS(Stalled, (std::int64_t, idle_ms), (std::int64_t, until))
};

using StreamEvent =
    std::variant<MessageStart, BlockStart, TextDelta, ThinkingDelta, ToolCallDelta, BlockEnd,
                 UsageReported, Stopped, MessageEnd, Waiting, Restarted, Switched, Stalled, Raw>;

/// Hears the stream on the loop's thread. Must not block and must not destroy the stream.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void On(const StreamEvent& event) = 0;
};

/// For a reply that is only wanted whole.
class NoSink final : public Sink {
 public:
  void On(const StreamEvent&) override {}
};

/// Why a reply ended, as log and stream spell it.
namespace stop {
inline constexpr std::string_view kEnd = "end";
inline constexpr std::string_view kToolUse = "tool_use";
inline constexpr std::string_view kMaxTokens = "max_tokens";
inline constexpr std::string_view kStopSequence = "stop_sequence";
inline constexpr std::string_view kRefused = "refused";    // The model or a filter refused.
inline constexpr std::string_view kPaused = "paused";      // Ask again to go on.
inline constexpr std::string_view kOverflow = "overflow";  // The window was full.
inline constexpr std::string_view kOther = "other";
}  // namespace stop

}  // namespace stet::provider
