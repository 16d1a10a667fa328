// Schemas: JSON Schemas of described structs, made by walking their members.
//
// A struct becomes one definition under its name. What the host writes has every member that is not
// optional. Of what a client writes the session's id is required and what its limits
// (protocol/limits.h) say, since any other missing member is as its default; null is as absent.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/describe.h"
#include "json/writer.h"
#include "protocol/limits.h"

namespace stet::test {

/// The name of a type without its namespaces.
template <class T>
std::string NameOf() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  const std::string_view whole = text.substr(begin, text.find_first_of(";]", begin) - begin);
  return std::string(whole.substr(whole.rfind(':') + 1));
}

enum class By { kHost, kClient };

class Schemas {
 public:
  /// `place` is where the definitions will stand: "#/$defs/".
  explicit Schemas(std::string place) : place_(std::move(place)) {}

  /// Definitions by their names, as JSON.
  [[nodiscard]] const std::map<std::string, std::string>& definitions() const { return made_; }
  /// A type that has two different definitions; empty: none.
  [[nodiscard]] const std::string& conflict() const { return conflict_; }

  /// A reference to a struct that `by` writes.
  template <Described T>
  std::string Root(By by) {
    return Define<T>(by, false);
  }
  /// The same without its session's id, which the address has.
  template <Described T>
  std::string Body() {
    return Define<T>(By::kClient, true);
  }

  /// The schema of a member's type.
  template <class T>
  std::string Of() {
    if constexpr (std::same_as<T, bool>) {
      return R"({"type":"boolean"})";
    } else if constexpr (std::same_as<T, std::uint64_t>) {
      return R"({"type":"integer","minimum":0})";
    } else if constexpr (std::same_as<T, std::int64_t>) {
      return R"({"type":"integer"})";
    } else if constexpr (std::same_as<T, std::string>) {
      return R"({"type":"string"})";
    } else if constexpr (std::same_as<T, Raw>) {
      return R"({"description":"any JSON value"})";
    } else if constexpr (kIsOptional<T>) {
      return Of<typename T::value_type>();
    } else if constexpr (kIsVector<T>) {
      return R"({"type":"array","items":)" + Of<typename T::value_type>() + "}";
    } else if constexpr (kIsOneOf<T>) {
      return OneOf<T>();
    } else {
      return Define<T>(By::kHost, false);
    }
  }

  /// What is said of the member beyond its type.
  template <class T>
  static protocol::Limit LimitOf(std::string_view member) {
    for (const protocol::Limit& limit : protocol::LimitsOf<T>())
      if (limit.member == member) return limit;
    return {};
  }

  /// The schema of a member that a client writes.
  template <class M>
  std::string Asked(const protocol::Limit& limit) {
    std::string schema = Of<M>();
    std::string more;
    if (!limit.words.empty()) {
      const std::string words = "\"" + Replaced(limit.words, " ", "\",\"") + "\"";
      more += ",\"enum\":[" + words + (limit.required ? "" : ",\"\"") +
              (kIsOptional<M> ? ",null]" : "]");
    }
    if (limit.least != protocol::Limit().least)
      more += ",\"minimum\":" + std::to_string(limit.least);
    if (limit.most != protocol::Limit().most) more += ",\"maximum\":" + std::to_string(limit.most);
    const std::string_view kType = "{\"type\":\"";
    const std::size_t end = schema.find('"', kType.size());
    if (!schema.starts_with(kType))
      return kIsOptional<M> && schema.contains("$ref")
                 ? "{\"anyOf\":[" + schema + ",{\"type\":\"null\"}]}"
                 : schema;
    if (!more.empty()) schema.insert(schema.size() - 1, more);
    if (!kIsOptional<M>) return schema;
    const std::string type = schema.substr(kType.size(), end - kType.size());
    return "{\"type\":[\"" + type + "\",\"null\"]" + schema.substr(end + 1);
  }

  /// Any of a variant's structs. A reader keeps what it does not know as it is.
  template <class T>
  std::string OneOf() {
    std::string all;
    const auto add = [&]<class A>() {
      if constexpr (Described<A>) (all += all.empty() ? "" : ",") += Of<A>();
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add.template operator()<std::variant_alternative_t<I, T>>(), ...);
    }(std::make_index_sequence<std::variant_size_v<T>>());
    return R"({"anyOf":[)" + all + "]}";
  }

  /// Puts a definition down that was made elsewhere.
  std::string Put(const std::string& name, const std::string& schema) {
    const auto [known, fresh] = made_.emplace(name, schema);
    if (!fresh && known->second != schema) conflict_ = name;
    return R"({"$ref":")" + place_ + name + R"("})";
  }

  /// `"properties":{...},"required":[...]` of a struct, behind `properties` and `required` that
  /// stand first.
  template <Described T>
  std::string Members(By by, bool without_session, std::string properties, std::string required) {
    const auto add = [&]<class S, class M, std::size_t N>(const Field<S, M, N>& field) {
      const std::string name(field.name.bare());
      if (without_session && name == "sessionId") return;
      if (!properties.empty()) properties += ',';
      const protocol::Limit limit = by == By::kClient ? LimitOf<T>(name) : protocol::Limit();
      ((((properties += '"') += name) += "\":")) += by == By::kClient ? Asked<M>(limit) : Of<M>();
      const bool needed = by == By::kHost || limit.required ||
                          (name == "sessionId" && std::same_as<M, std::string>);
      if (kIsOptional<M> || !needed) return;
      if (!required.empty()) required += ',';
      ((required += '"') += name) += '"';
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, T::Fields());
    std::string out = R"("properties":{)" + properties + "}";
    if (!required.empty()) out += R"(,"required":[)" + required + "]";
    return out;
  }

 private:
  template <Described T>
  std::string Define(By by, bool without_session) {
    std::string properties;
    std::string required;
    if constexpr (Tagged<T>) {
      properties = R"("type":{"const":")" + std::string(T::kTag) + R"("})";
      required = R"("type")";
    }
    return Put(NameOf<T>(), R"({"type":"object",)" +
                                Members<T>(by, without_session, properties, required) + "}");
  }

  std::string place_;
  std::map<std::string, std::string> made_;
  std::string conflict_;
};

/// The same JSON with one member or element a line.
std::string Indented(std::string_view json);

}  // namespace stet::test
