// Transients: progress that is broadcast and never stored. They share the session's seq counter
// with events.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/content.h"

namespace stet::protocol {

/// Allocates the id that the final event will have.
struct MessageStart {
  static constexpr std::string_view kTag = "message_start";
  STET_FIELDS(MessageStart,
              (Text, event_id),
              (OptionalText, parent_id),
              (Text, role),
              (OptionalText, model))
};

struct TextDelta {
  static constexpr std::string_view kTag = "text_delta";
  STET_FIELDS(TextDelta, (Text, event_id), (std::int64_t, block_index), (Text, delta))
};

struct ThinkingDelta {
  static constexpr std::string_view kTag = "thinking_delta";
  STET_FIELDS(ThinkingDelta, (Text, event_id), (std::int64_t, block_index), (Text, delta))
};

struct ToolCallDelta {
  static constexpr std::string_view kTag = "tool_call_delta";
  STET_FIELDS(ToolCallDelta,
              (Text, event_id),
              (std::int64_t, block_index),
              (Text, tool_call_id),
              (OptionalText, tool_name),
              (Text, delta))
};

/// The block says no more.
struct BlockEnd {
  static constexpr std::string_view kTag = "block_end";
  STET_FIELDS(BlockEnd, (Text, event_id), (std::int64_t, block_index))
};

struct ToolExecutionStart {
  static constexpr std::string_view kTag = "tool_execution_start";
  STET_FIELDS(ToolExecutionStart,
              (Text, event_id),
              (Text, tool_call_id),
              (Text, tool_name),
              (Raw, args),
              (OptionalInt, began_at))  // Unix milliseconds; told to a client that comes later.
};

struct ToolExecutionUpdate {
  static constexpr std::string_view kTag = "tool_execution_update";
  STET_FIELDS(ToolExecutionUpdate,
              (Text, event_id),
              (Text, tool_call_id),
              (Text, partial),
              (OptionalText, terminal_id))  // The client's terminal that it runs in.
};

struct ToolExecutionEnd {
  static constexpr std::string_view kTag = "tool_execution_end";
  STET_FIELDS(ToolExecutionEnd,
              (Text, event_id),
              (Text, tool_call_id),
              (std::int64_t, duration_ms),
              (bool, is_error))
};

/// Nothing will be stored under this id: drop what was shown.
struct MessageCancelled {
  static constexpr std::string_view kTag = "message_cancelled";
  STET_FIELDS(MessageCancelled, (Text, event_id), (Text, reason))
};

/// One step begins or ends; turn_index is its number within the turn.
struct TurnStart {
  static constexpr std::string_view kTag = "turn_start";
  STET_FIELDS(TurnStart, (std::int64_t, turn_index))
};

struct TurnEnd {
  static constexpr std::string_view kTag = "turn_end";
  STET_FIELDS(TurnEnd,
              (std::int64_t, turn_index),
              (OptionalText, stop_reason),
              (OptionalUsage, usage))
};

/// One whole turn begins or ends.
struct RuntimeStart {
  static constexpr std::string_view kTag = "runtime_start";
  STET_FIELDS(RuntimeStart,
              (Text, turn_id),
              (OptionalInt, began_at))  // As ToolExecutionStart has it.
};

struct RuntimeEnd {
  static constexpr std::string_view kTag = "runtime_end";
  STET_FIELDS(RuntimeEnd, (Text, turn_id), (Text, reason), (OptionalText, error))
};

/// Who is waited for, why, and until when. For the user: something asked before is open again.
struct Wait {
  static constexpr std::string_view kTag = "wait";
  STET_FIELDS(Wait,
              (Text, who),
              (Text, what),
              (OptionalInt, until),
              (OptionalInt, attempt))  // The one that failed, from 1, when it is made again.
};

/// Something that people should know, said by what is named: a hook, an extension.
struct Notice {
  static constexpr std::string_view kTag = "notice";
  STET_FIELDS(Notice, (Text, by), (Text, text))
};

using TransientPayload =
    std::variant<MessageStart, TextDelta, ThinkingDelta, ToolCallDelta, BlockEnd,
                 ToolExecutionStart, ToolExecutionUpdate, ToolExecutionEnd, MessageCancelled,
                 TurnStart, TurnEnd, RuntimeStart, RuntimeEnd, Wait, Notice, Raw>;

struct Transient {
  STET_FIELDS(Transient,
              (std::uint64_t, seq),
              (std::int64_t, ts),
              (Text, client_id),
              (TransientPayload, transient))
};

std::string EncodeTransient(const Transient& transient);
Result<Transient> DecodeTransient(std::string_view text);

}  // namespace stet::protocol
