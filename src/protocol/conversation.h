// The events that make the conversation: messages, harness items, compactions, and what moves the
// leaf.
//
// Members that the index needs stand first in their struct, because a scan of the log reads a line
// only up to the first object or array in it (doc/format/log.md, "Prefix").
#pragma once

#include <cstdint>

#include "protocol/content.h"
#include "protocol/header.h"
#include "protocol/place.h"

namespace stet::protocol {

struct UserMessage {
  static constexpr std::string_view kType = "message";
  static constexpr std::string_view kRole = "user";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(UserMessage,
              (OptionalText, client_message_id),
              (OptionalText, queue_item_id),
              (Text, source),  // user, follow_up, channel, system
              (Message, message))
};

struct AssistantMessage {
  static constexpr std::string_view kType = "message";
  static constexpr std::string_view kRole = "assistant";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(AssistantMessage,
              (std::int64_t, calls),  // How many tool_call blocks it holds.
              (OptionalBool, partial),
              (AssistantContent, message))
};

struct ToolResult {
  static constexpr std::string_view kType = "message";
  static constexpr std::string_view kRole = "tool_result";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(ToolResult,
              (Text, tool_call_id),
              (std::int64_t, call_index),
              (bool, is_error),
              (Raw, content),
              (Texts, blobs))
};

/// Seen by people, not by the model.
struct InternalMessage {
  static constexpr std::string_view kType = "message";
  static constexpr std::string_view kRole = "internal";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(InternalMessage, (Message, message))
};

struct Item {
  STET_FIELDS(Item,
              (Text, kind),
              (Text, origin),
              (Text, content),
              (Text, visibility),
              (OptionalRaw, data))
};

/// What a message to the model pays: the end of a task, or an `owed` event.
struct Carried {
  STET_FIELDS(Carried,
              (OptionalText, task_id),
              (OptionalText, ended_turn_id),  // Which of a task's ends, when it has several.
              (OptionalText, owed_id))

  /// The same for what is owed and for what pays it, and for nothing else.
  [[nodiscard]] std::string Key() const {
    if (owed_id) return *owed_id;
    return task_id.value_or("") + (ended_turn_id ? "/" + *ended_turn_id : "");
  }
};
using OptionalCarries = std::optional<std::vector<Carried>>;

struct HarnessItem {
  static constexpr std::string_view kType = "harness_item";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(HarnessItem,
              (OptionalText, queue_item_id),
              (OptionalCarries, carries),
              (Text, placement),
              (OptionalText, by),
              (Item, item))
};

struct CustomMessage {
  static constexpr std::string_view kType = "custom_message";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(CustomMessage,
              (OptionalCarries, carries),
              (Text, kind),
              (Message, message),
              (OptionalRaw, data))
};

struct Compaction {
  static constexpr std::string_view kType = "compact";
  static constexpr Place kPlace = Place::kTree;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Compaction,
              (OptionalText, client_message_id),  // Of the client that asked for it.
              (OptionalText, keep_after_event_id),  // Absent: everything before is kept out.
              (std::int64_t, tokens_before),
              (std::int64_t, tokens_after),
              (Text, trigger),
              (OptionalText, model),
              (Text, summary),
              (Raw, capsule))
};

struct Rewind {
  static constexpr std::string_view kType = "rewind";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Rewind,
              (OptionalText, target_event_id),  // Absent: before the first event.
              (OptionalText, expected_leaf_id))
};

struct Branch {
  static constexpr std::string_view kType = "branch";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Branch, (Text, leaf_event_id), (OptionalText, expected_leaf_id))
};

struct Opened {
  static constexpr std::string_view kType = "opened";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kAlways;
  STET_FIELDS(Opened,
              (std::int64_t, epoch),
              (Text, device_id),
              (std::int64_t, pid),
              (Text, version))
};

using OptionalHeader = std::optional<Header>;

/// Bytes of the log that can no longer be read, and what later events with a lost parent hang on
/// instead.
struct Gap {
  static constexpr std::string_view kType = "gap";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Gap,
              (std::int64_t, offset),
              (std::int64_t, length),
              (OptionalText, id),  // The lost event's, when it can still be read.
              (OptionalText, bridged_to),
              (OptionalHeader, header))  // Rebuilt, when line 1 is what was lost.
};

struct Section {
  STET_FIELDS(Section,
              (Text, kind),
              (std::int64_t, frozen_at),
              (OptionalRaw, sources),
              (Text, rendered_block),
              (OptionalRaw, data))
};
using Sections = std::vector<Section>;

struct Snapshot {
  STET_FIELDS(Snapshot, (std::int64_t, version), (Text, cwd), (Sections, sections))
};

struct InstructionSnapshot {
  static constexpr std::string_view kType = "instruction_snapshot";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(InstructionSnapshot, (Snapshot, snapshot))
};

}  // namespace stet::protocol
