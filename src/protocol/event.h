// Event: one persistent fact, one line of the log, one unit of sync. doc/format/log.md owns the
// table of types; a type is one row there, one struct, and one name in Payload.
//
// Encoding writes the fixed order seq, id, parentId, type, then the stamp, then the payload's
// members. Decoding accepts any event whose first four members are right: a type that this version
// does not know, and a known one whose members do not fit, become an UnknownEvent that keeps every
// member as its exact text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/conversation.h"
#include "protocol/run_facts.h"
#include "protocol/work.h"

namespace stet::protocol {

struct UnknownEvent {
  STET_FIELDS(UnknownEvent)
  std::string type;
  std::string problem;  // Why a known type could not be read; empty for an unknown type.
};

using Payload =
    std::variant<UserMessage, AssistantMessage, ToolResult, InternalMessage, HarnessItem,
                 CustomMessage, Compact, Rewind, Branch, Opened, Gap, InstructionSnapshot, Turn,
                 ModelCall, ToolStarted, Permission, Question, QueueUpdate, ContentReplacement,
                 Snip, FileFact, Task, SessionInfo, SkillIndex, ChannelInject, Custom, PhaseMoved,
                 FindingRaised, FindingCleared, Waiver, Evidence, Anchor, Repair, Stop, PromiseMade,
                 CapsuleRestored, Pin, Transaction, Receipt, UnknownEvent>;

/// Who and when, and to which turn, step, run and agent it belongs.
struct Stamp {
  STET_FIELDS(Stamp, (std::int64_t, ts),  // Unix milliseconds.
              (Text, client_id), (OptionalText, turn_id), (OptionalText, step_id),
              (OptionalText, run_id), (OptionalText, agent_id),
              (OptionalBool, critical))  // A reader that does not know the type must not write.
};

struct Event {
  std::uint64_t seq = 0;
  std::string id;
  std::optional<std::string> parent_id;
  Stamp stamp;
  Payload payload;

  friend bool operator==(const Event&, const Event&) = default;
};

/// The type's name: "message", "compact", ...
std::string_view TypeName(const Payload& payload);
Place PlaceOf(const Payload& payload);
Flush FlushOf(const Payload& payload);

/// How many tool_call blocks the message holds: what `calls` must say.
std::int64_t CountCalls(const AssistantMessage& message);

/// Appends the event as one JSON object, without a line end.
void EncodeEvent(const Event& event, std::string& out);
/// Reads one event. A top-level member `crc` is the line's, not the event's, and is left out.
Result<Event> DecodeEvent(std::string_view text);

/// The number by which an index names a type: the position of its first struct in Payload. Stable
/// within one version of the program only.
std::uint8_t TypeNumber(std::string_view type, std::string_view role);
std::uint8_t TypeNumber(const Payload& payload);
/// The place of a type known by its number and, for file_fact, its op.
Place PlaceOf(std::uint8_t type_number, std::string_view op);
std::string_view TypeName(std::uint8_t type_number);

template <class T, std::size_t I = 0>
consteval std::uint8_t TypeNumberOf() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, Payload>>)
    return I;
  else
    return TypeNumberOf<T, I + 1>();
}

}  // namespace stet::protocol
