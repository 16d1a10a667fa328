#include "protocol/event.h"

#include <algorithm>
#include <utility>

namespace stet::protocol {
namespace {

constexpr std::size_t kTypes = std::variant_size_v<PayloadVariant>;
constexpr std::uint8_t kUnknown = kTypes - 1;

template <class T>
concept HasRole = requires { T::kRole; };
template <class T>
concept HasFixedPlace = requires { T::kPlace; };

/// Calls `visit.operator()<T, I>()` for each known payload type until one answers true.
template <class Visit>
bool AnyType(Visit visit) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (visit.template operator()<std::variant_alternative_t<I, PayloadVariant>, I>() || ...);
  }(std::make_index_sequence<kTypes - 1>());
}

template <class T>
Place PlaceOfType(std::string_view op) {
  if constexpr (HasFixedPlace<T>)
    return T::kPlace;
  else
    return T::PlaceOf(op);
}

bool TakeCrc(JsonReader& reader, std::string_view key) { return key == "crc" && reader.Skip(); }

/// The members behind `type`: the stamp's, then the payload's, the rest into the payload's extra.
template <class T>
bool DecodeRest(JsonReader& reader, Stamp& stamp, T& payload) {
  std::uint64_t stamp_seen = 0;
  std::uint64_t payload_seen = 0;
  bool role_seen = false;
  std::string_view key;
  while (reader.NextMember(&key)) {
    if constexpr (HasRole<T>) {
      if (key == "role" && !std::exchange(role_seen, true)) {
        if (!reader.Skip()) return false;
        continue;
      }
    }
    if (TakeCrc(reader, key)) continue;
    Took took = TakeMember(reader, key, stamp, stamp_seen);
    if (took == Took::kNo) took = TakeMember(reader, key, payload, payload_seen);
    if (took == Took::kFailed) return false;
    if (took == Took::kNo && !KeepMember(reader, payload.extra)) return false;
  }
  return reader.ok();
}

/// The string member `role` among those that follow, if any.
std::string PeekRole(JsonReader reader) {
  std::string_view key;
  while (reader.NextMember(&key)) {
    std::string role;
    if (key == "role") return reader.String(&role) ? role : "";
    if (!reader.Skip()) break;
  }
  return "";
}

bool ExpectMember(JsonReader& reader, std::string_view name) {
  std::string_view key;
  if (!reader.NextMember(&key))
    return reader.Refuse("an event starts with seq, id, parentId, type");
  return key == name || reader.Refuse("an event starts with seq, id, parentId, type");
}

bool DecodeStart(JsonReader& reader, Event& event, std::string& type) {
  if (!reader.EnterObject()) return false;
  if (!ExpectMember(reader, "seq") || !reader.UInt(&event.seq)) return false;
  if (!ExpectMember(reader, "id") || !reader.String(&event.id)) return false;
  if (!ExpectMember(reader, "parentId")) return false;
  if (reader.Peek() == JsonReader::Kind::kNull) {
    reader.Null();
  } else if (!reader.String(&event.parent_id.emplace())) {
    return false;
  }
  return ExpectMember(reader, "type") && reader.String(&type);
}

}  // namespace

Payload::Payload() = default;
Payload::Payload(const Payload&) = default;
Payload::Payload(Payload&&) noexcept = default;
Payload& Payload::operator=(const Payload&) = default;
Payload& Payload::operator=(Payload&&) noexcept = default;
Payload::~Payload() = default;

bool operator==(const Payload& a, const Payload& b) {
  return static_cast<const PayloadVariant&>(a) == static_cast<const PayloadVariant&>(b);
}

std::uint8_t TypeNumber(std::string_view type, std::string_view role) {
  std::uint8_t number = kUnknown;
  AnyType([&]<class T, std::size_t I>() {
    if (type != T::kType) return false;
    if constexpr (HasRole<T>) {
      if (role != T::kRole) return false;
    }
    number = I;
    return true;
  });
  return number;
}

std::uint8_t TypeNumber(const Payload& payload) {
  return static_cast<std::uint8_t>(payload.index());
}

std::string_view TypeName(std::uint8_t type_number) {
  std::string_view name = "unknown";
  AnyType([&]<class T, std::size_t I>() {
    if (I != type_number) return false;
    name = T::kType;
    return true;
  });
  return name;
}

std::string_view TypeName(const Payload& payload) {
  if (const auto* unknown = std::get_if<UnknownEvent>(&payload)) return unknown->type;
  return TypeName(TypeNumber(payload));
}

std::optional<std::string_view> RoleName(const Payload& payload) {
  return std::visit(
      []<class T>(const T&) -> std::optional<std::string_view> {
        if constexpr (HasRole<T>)
          return T::kRole;
        else
          return std::nullopt;
      },
      static_cast<const PayloadVariant&>(payload));
}

Place PlaceOf(std::uint8_t type_number, std::string_view op) {
  Place place = Place::kControl;  // Unknown: never the leaf, though others may hang on it.
  AnyType([&]<class T, std::size_t I>() {
    if (I != type_number) return false;
    place = PlaceOfType<T>(op);
    return true;
  });
  return place;
}

Place PlaceOf(const Payload& payload) {
  const auto* fact = std::get_if<FileFact>(&payload);
  return PlaceOf(TypeNumber(payload), fact == nullptr ? "" : fact->op);
}

Flush FlushOf(const Payload& payload) {
  return std::visit(
      []<class T>(const T& event) {
        if constexpr (requires { event.FlushGrade(); })
          return event.FlushGrade();
        else if constexpr (requires { T::kFlush; })
          return T::kFlush;
        else
          return Flush::kLazy;
      },
      static_cast<const PayloadVariant&>(payload));
}

std::int64_t CountCalls(const AssistantMessage& message) {
  return std::ranges::count_if(message.message.blocks, [](const Block& block) {
    return std::holds_alternative<ToolCallBlock>(block);
  });
}

void EncodeEvent(const Event& event, std::string& out) {
  out += "{\"seq\":";
  AppendJsonUInt(out, event.seq);
  out += ",\"id\":";
  AppendJsonString(out, event.id);
  out += ",\"parentId\":";
  if (event.parent_id)
    AppendJsonString(out, *event.parent_id);
  else
    out += "null";
  out += ",\"type\":";
  AppendJsonString(out, TypeName(event.payload));
  out += ',';
  EncodeMembers(out, event.stamp);
  std::visit(
      [&]<class T>(const T& payload) {
        if constexpr (HasRole<T>) ((out += "\"role\":\"") += T::kRole) += "\",";
        EncodeMembers(out, payload);
      },
      static_cast<const PayloadVariant&>(event.payload));
  CloseObject(out);
}

Result<Event> DecodeEvent(std::string_view text) {
  JsonReader reader(text);
  Event event;
  std::string type;
  if (!DecodeStart(reader, event, type)) return std::unexpected(reader.error());
  const std::string role = type == "message" ? PeekRole(reader) : "";
  const std::uint8_t number = TypeNumber(type, role);
  UnknownEvent unknown;
  unknown.type = type;
  JsonReader rest = reader;
  const bool known = AnyType([&]<class T, std::size_t I>() {
    if (I != number) return false;
    T payload;
    Stamp stamp;
    JsonReader attempt = reader;
    if (!DecodeRest(attempt, stamp, payload)) {
      unknown.problem = attempt.error().message;
      return false;
    }
    event.stamp = std::move(stamp);
    event.payload = std::move(payload);
    rest = attempt;
    return true;
  });
  if (!known) {
    if (!DecodeRest(rest, event.stamp, unknown)) return std::unexpected(rest.error());
    event.payload = std::move(unknown);
  }
  if (!rest.AtEnd()) return std::unexpected(rest.error());
  return event;
}

}  // namespace stet::protocol
