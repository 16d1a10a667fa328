// Described structs: plain data that knows its JSON members. Adding a member to a type is one line
// in its STET_FIELDS.
//
//   struct Opened {
//     STET_FIELDS(Opened, (std::int64_t, epoch), (std::string, device_id),
//     (std::optional<std::string>, note))
//   };
//
// declares the members epoch, device_id, note and `extra`, and equality. In JSON a member's name is
// its camelCase form. Encoding writes the members in the order of declaration, absent optionals not
// at all, then `extra`. Decoding is tolerant: a missing member keeps its default, an unknown one
// (also a null for an optional, and the second of a duplicate) goes to `extra` as its exact text
// and is written back unchanged; a known member of a wrong kind fails.
//
// Member types: bool, std::int64_t, std::uint64_t, std::string, Raw, described structs,
// std::optional and std::vector of these, and a OneOf: std::variant<A, B, ..., Raw> of described
// structs that carry `kTag`, told apart by the JSON member "type"; what has an unknown tag or does
// not fit is kept as Raw.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace stet {

/// A member's JSON name: `device_id` becomes `"deviceId":`, kept with its quotes and colon for the
/// writer.
template <std::size_t N>
struct MemberName {
  std::array<char, N + 3> text{};
  std::size_t size = 0;

  constexpr explicit MemberName(const char (&snake)[N]) {
    text[size++] = '"';
    for (std::size_t i = 0; i + 1 < N; ++i) {
      const bool joint = snake[i] == '_';
      if (joint) ++i;
      const char c = snake[i];
      text[size++] = joint && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    text[size++] = '"';
    text[size++] = ':';
  }
  [[nodiscard]] constexpr std::string_view quoted() const { return {text.data(), size}; }
  [[nodiscard]] constexpr std::string_view bare() const { return {text.data() + 1, size - 3}; }
};

template <class Struct, class Type, std::size_t N>
struct Field {
  MemberName<N> name;
  Type Struct::* member;
};

template <class Struct, class Type, std::size_t N>
constexpr auto MakeField(const char (&name)[N], Type Struct::* member) {
  return Field<Struct, Type, N>{MemberName<N>(name), member};
}

template <class T>
concept Described = requires { T::Fields(); };
template <class T>
concept Tagged = Described<T> && requires { T::kTag; };

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOneOf = false;
template <class... Ts>
inline constexpr bool kIsOneOf<std::variant<Ts...>> = true;

// Encoding.

template <class T>
void EncodeValue(std::string& out, const T& value);

/// Writes `"name":value,` for each member that is present, then `extra` and a comma, if any.
template <Described T>
void EncodeMembers(std::string& out, const T& object) {
  const auto encode = [&](const auto& field) {
    const auto& value = object.*field.member;
    if constexpr (kIsOptional<std::remove_cvref_t<decltype(value)>>) {
      if (!value) return;
      out += field.name.quoted();
      EncodeValue(out, *value);
    } else {
      out += field.name.quoted();
      EncodeValue(out, value);
    }
    out += ',';
  };
  std::apply([&](const auto&... field) { (encode(field), ...); }, T::Fields());
  if (!object.extra.empty()) (out += object.extra) += ',';
}

/// Turns the comma behind the last member, if there is one, into the end of the object.
inline void CloseObject(std::string& out) {
  if (out.back() == ',') {
    out.back() = '}';
  } else {
    out += '}';
  }
}

template <Described T>
void EncodeObject(std::string& out, const T& object) {
  out += '{';
  if constexpr (Tagged<T>) ((out += "\"type\":\"") += T::kTag) += "\",";
  EncodeMembers(out, object);
  CloseObject(out);
}

template <class T>
void EncodeValue(std::string& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::unsigned_integral<T>) {
    AppendJsonUInt(out, value);
  } else if constexpr (std::integral<T>) {
    AppendJsonInt(out, value);
  } else if constexpr (std::same_as<T, std::string>) {
    AppendJsonString(out, value);
  } else if constexpr (std::same_as<T, Raw>) {
    out += value.text;
  } else if constexpr (kIsVector<T>) {
    out += '[';
    for (const auto& element : value) {
      EncodeValue(out, element);
      out += ',';
    }
    if (out.back() == ',')
      out.back() = ']';
    else
      out += ']';
  } else if constexpr (kIsOneOf<T>) {
    std::visit([&](const auto& one) { EncodeValue(out, one); }, value);
  } else {
    EncodeObject(out, value);
  }
}

template <class T>
std::string Encode(const T& value) {
  std::string out;
  EncodeValue(out, value);
  return out;
}

// Decoding.

template <class T>
bool DecodeValue(JsonReader& reader, T& out);

/// Keeps the member that the reader stands at as its exact text.
inline bool KeepMember(JsonReader& reader, std::string& extra) {
  const std::string_view raw_key = reader.raw_key();
  std::string_view raw;
  if (!reader.Skip(&raw)) return false;
  if (!extra.empty()) extra += ',';
  (((extra += '"') += raw_key) += "\":") += raw;
  return true;
}

enum class Took { kNo, kYes, kFailed };

/// Reads the value behind `key` into the member of that name. `seen` has a bit per field of T.
template <Described T>
Took TakeMember(JsonReader& reader, std::string_view key, T& object, std::uint64_t& seen) {
  Took took = Took::kNo;
  std::uint64_t bit = 1;
  const auto try_field = [&](const auto& field) {
    const bool match = key == field.name.bare() && (seen & bit) == 0;
    const std::uint64_t mark = bit;
    bit <<= 1;
    if (!match) return false;
    auto& value = object.*field.member;
    if constexpr (kIsOptional<std::remove_cvref_t<decltype(value)>>) {
      if (reader.Peek() == JsonReader::Kind::kNull)
        return true;  // Not ours to drop: kept in `extra`.
    }
    seen |= mark;
    took = DecodeValue(reader, value) ? Took::kYes : Took::kFailed;
    return true;
  };
  std::apply([&](const auto&... field) { (void)(try_field(field) || ...); }, T::Fields());
  return took;
}

/// The object's members, the reader being inside it already.
template <Described T>
bool DecodeMembers(JsonReader& reader, T& object) {
  std::uint64_t seen = 0;
  bool tag_seen = false;
  std::string_view key;
  while (reader.NextMember(&key)) {
    if constexpr (Tagged<T>) {
      if (key == "type" && !std::exchange(tag_seen, true)) {
        if (!reader.Skip()) return false;
        continue;
      }
    }
    const Took took = TakeMember(reader, key, object, seen);
    if (took == Took::kFailed) return false;
    if (took == Took::kNo && !KeepMember(reader, object.extra)) return false;
  }
  return reader.ok();
}

/// The string member `name` of the object that starts at `reader`, looking ahead on a copy.
std::optional<std::string> PeekMember(JsonReader reader, std::string_view name);

template <class OneOf, std::size_t I>
bool DecodeAlternative(JsonReader& reader, std::string_view tag, OneOf& out) {
  using T = std::variant_alternative_t<I, OneOf>;
  if constexpr (Tagged<T>) {
    if (tag != T::kTag) return false;
    JsonReader attempt = reader;
    T object;
    if (!DecodeValue(attempt, object)) return false;
    reader = attempt;
    out = std::move(object);
    return true;
  }
  return false;
}

template <class OneOf>
bool DecodeOneOf(JsonReader& reader, OneOf& out) {
  if (reader.Peek() == JsonReader::Kind::kObject) {
    const std::string tag = PeekMember(reader, "type").value_or("");
    const bool known = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (DecodeAlternative<OneOf, I>(reader, tag, out) || ...);
    }(std::make_index_sequence<std::variant_size_v<OneOf>>());
    if (known) return true;
  }
  Raw raw;
  if (!DecodeValue(reader, raw)) return false;
  out = std::move(raw);
  return true;
}

template <class T>
bool DecodeValue(JsonReader& reader, T& out) {
  if constexpr (std::same_as<T, bool>) {
    return reader.Bool(&out);
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return reader.UInt(&out);
  } else if constexpr (std::same_as<T, std::int64_t>) {
    return reader.Int(&out);
  } else if constexpr (std::same_as<T, std::string>) {
    return reader.String(&out);
  } else if constexpr (std::same_as<T, Raw>) {
    std::string_view raw;
    if (!reader.Skip(&raw)) return false;
    out.text = raw;
    return true;
  } else if constexpr (kIsOptional<T>) {
    return DecodeValue(reader, out.emplace());
  } else if constexpr (kIsVector<T>) {
    if (!reader.EnterArray()) return false;
    while (reader.NextElement()) {
      if (!DecodeValue(reader, out.emplace_back())) return false;
    }
    return reader.ok();
  } else if constexpr (kIsOneOf<T>) {
    return DecodeOneOf(reader, out);
  } else {
    return reader.EnterObject() && DecodeMembers(reader, out);
  }
}

template <class T>
Result<T> Decode(std::string_view text) {
  JsonReader reader(text);
  T value;
  if (!DecodeValue(reader, value) || !reader.AtEnd()) return std::unexpected(reader.error());
  return value;
}

}  // namespace stet

// A for-each over macro arguments, by rescanning (C++20 __VA_OPT__); enough for 300 members.
#define STET_EXPAND(...) STET_EXPAND3_(STET_EXPAND3_(STET_EXPAND3_(STET_EXPAND3_(__VA_ARGS__))))
#define STET_EXPAND3_(...) STET_EXPAND2_(STET_EXPAND2_(STET_EXPAND2_(STET_EXPAND2_(__VA_ARGS__))))
#define STET_EXPAND2_(...) STET_EXPAND1_(STET_EXPAND1_(STET_EXPAND1_(STET_EXPAND1_(__VA_ARGS__))))
#define STET_EXPAND1_(...) __VA_ARGS__
#define STET_PARENS_ ()
#define STET_FOR_EACH(macro, context, ...) \
  __VA_OPT__(STET_EXPAND(STET_FOR_EACH_STEP_(macro, context, __VA_ARGS__)))
#define STET_FOR_EACH_STEP_(macro, context, first, ...) \
  macro(context, first) __VA_OPT__(STET_FOR_EACH_AGAIN_ STET_PARENS_(macro, context, __VA_ARGS__))
#define STET_FOR_EACH_AGAIN_() STET_FOR_EACH_STEP_

// A field is a pair (type, name); a type with a comma in it needs an alias.
#define STET_FIELD_TYPE_(type, name) type
#define STET_FIELD_NAME_(type, name) name
#define STET_TEXT_(...) STET_TEXT2_(__VA_ARGS__)
#define STET_TEXT2_(...) #__VA_ARGS__
#define STET_DECLARE_FIELD_(Type, field) STET_FIELD_TYPE_ field STET_FIELD_NAME_ field{};
#define STET_DESCRIBE_FIELD_(Type, field) \
  , ::stet::MakeField(STET_TEXT_(STET_FIELD_NAME_ field), &Self::STET_FIELD_NAME_ field)

// Fields is a template so that only sources that encode or decode pay for it.
#define STET_FIELDS(Type, ...)                                                            \
  STET_FOR_EACH(STET_DECLARE_FIELD_, Type, __VA_ARGS__)                                   \
  std::string extra; /* Members that this version does not know, as `"key":value,...`. */ \
  template <class Self = Type>                                                            \
  static constexpr auto Fields() {                                                        \
    return ::stet::FieldTuple(0 STET_FOR_EACH(STET_DESCRIBE_FIELD_, Type, __VA_ARGS__));  \
  }                                                                                       \
  friend bool operator==(const Type&, const Type&) = default;

namespace stet {

/// Drops the leading 0 that lets the macro above end every item with a comma before it.
template <class... F>
constexpr auto FieldTuple(int, F... fields) {
  return std::tuple<F...>(fields...);
}

}  // namespace stet
