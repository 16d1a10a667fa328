// Content: blocks, messages and usage, as plain data. A block of a kind that this version does not
// know is kept as Raw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/describe.h"

namespace stet::protocol {

using Text = std::string;
using OptionalText = std::optional<std::string>;
using OptionalInt = std::optional<std::int64_t>;
using OptionalBool = std::optional<bool>;
using OptionalRaw = std::optional<Raw>;
using Texts = std::vector<std::string>;

struct TextBlock {
  static constexpr std::string_view kTag = "text";
  STET_FIELDS(TextBlock,
              (Text, text),
              (OptionalText, visibility),
              (OptionalText, signature))  // Replayed unchanged, to the same model only.
};

struct ThinkingBlock {
  static constexpr std::string_view kTag = "thinking";
  STET_FIELDS(ThinkingBlock,
              (Text, text),
              (OptionalText, signature),  // Replayed unchanged, to the same dialect only.
              (OptionalText, dialect))
};

/// Reasoning that the provider hides: opaque, replayed unchanged to the same dialect.
struct RedactedThinkingBlock {
  static constexpr std::string_view kTag = "redacted_thinking";
  STET_FIELDS(RedactedThinkingBlock, (Raw, data), (OptionalText, dialect))
};

struct ToolCallBlock {
  static constexpr std::string_view kTag = "tool_call";
  STET_FIELDS(ToolCallBlock,
              (Text, tool_call_id),  // Ours, unique in the session.
              (OptionalText, native_id),  // The provider's, used only on that dialect's wire.
              (Text, tool_name),
              (Raw, args),
              (OptionalText, signature))
};

struct ImageBlock {
  static constexpr std::string_view kTag = "image";
  STET_FIELDS(ImageBlock, (Text, media_type), (Text, blob))
};

using Block =
    std::variant<TextBlock, ThinkingBlock, RedactedThinkingBlock, ToolCallBlock, ImageBlock, Raw>;
using Blocks = std::vector<Block>;

/// Tokens of one model call, each kind counted once.
struct Usage {
  STET_FIELDS(Usage,
              (std::int64_t, input),  // Not read from a cache and not written to one.
              (std::int64_t, output),
              (OptionalInt, cache_read),
              (OptionalInt, cache_write),
              (OptionalInt, reasoning))
};
using OptionalUsage = std::optional<Usage>;

struct Message {
  STET_FIELDS(Message, (Blocks, blocks))
};

struct AssistantContent {
  STET_FIELDS(AssistantContent,
              (Blocks, blocks),
              (Text, model),
              (OptionalText, stop_reason),
              (OptionalUsage, usage))
};

/// The blocks' visible text, joined by blank lines.
std::string PlainText(const Blocks& blocks);

}  // namespace stet::protocol
