// Event: one persistent fact, one line of the log, one unit of sync. doc/format/log.md owns the
// table of types; a type is one row there, one struct, and one name in Payload.
//
// Encoding writes the fixed order seq, id, parentId, type, then the stamp, then the payload's
// members. Decoding accepts any event whose first four members are right: a type that this version
// does not know, and a known one whose members do not fit, become an UnknownEvent that keeps every
// member as its exact text.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

using PayloadVariant =
    std::variant<UserMessage, AssistantMessage, ToolResult, InternalMessage, HarnessItem,
                 CustomMessage, Compaction, Rewind, Branch, Opened, Gap, InstructionSnapshot, Turn,
                 ModelCall, Toolset, ToolStarted, Permission, Question, QueueUpdate,
                 ContentReplacement, Snip, FileFact, Checkpoint, Task, Owed, SessionInfo,
                 SkillIndex, ChannelInject, Custom, PhaseMoved, FindingRaised, FindingCleared,
                 Waiver, Evidence, Anchor, Repair, Stop, PromiseMade, CapsuleRestored, Pin,
                 Transaction, Receipt, UnknownEvent>;

inline constexpr std::size_t kPayloadTypes = std::variant_size_v<PayloadVariant>;

/// What happened: one of the structs above. A variant whose special members are compiled once, in
/// event.cc: every source that holds an event would otherwise compile them for all types.
struct Payload : PayloadVariant {
  Payload();
  /// Implicit, as a variant's is: a struct stands for the payload that holds it.
  template <class T>
    requires requires { T::kType; } || std::same_as<T, UnknownEvent>
  // NOLINTNEXTLINE(google-explicit-constructor)
  Payload(T value) : PayloadVariant(std::in_place_type<T>, std::move(value)) {}
  Payload(const Payload&);
  Payload(Payload&&) noexcept;
  Payload& operator=(const Payload&);
  Payload& operator=(Payload&&) noexcept;
  ~Payload();
  friend bool operator==(const Payload&, const Payload&);
};

/// Who and when, and to which turn, step, run and agent it belongs.
struct Stamp {
  STET_FIELDS(Stamp,
              (std::int64_t, ts),  // Unix milliseconds.
              (Text, client_id),
              (OptionalText, turn_id),
              (OptionalText, step_id),
              (OptionalText, run_id),
              (OptionalText, agent_id),
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
/// A message's role; nothing for other types.
std::optional<std::string_view> RoleName(const Payload& payload);
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

template <class T, class... Ts>
consteval std::uint8_t PositionIn(std::type_identity<std::variant<Ts...>>) {
  constexpr std::array kSame = {std::is_same_v<T, Ts>...};
  return static_cast<std::uint8_t>(std::ranges::find(kSame, true) - kSame.begin());
}
template <class T>
inline constexpr std::uint8_t kTypeNumber = PositionIn<T>(std::type_identity<PayloadVariant>());

}  // namespace stet::protocol
