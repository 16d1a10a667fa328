// JsonView: looks into JSON text without building anything. For replies of servers, where a few
// members of many matter and any of them may be missing or of the wrong kind.
//
// A view is a value over text that must outlive it. Looking up a member scans the object up to it.
// What is missing, of another kind or damaged is an absent view, and everything asked of that is
// absent too: callers test once, at the end. Nothing here fails or throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/json.h"

namespace stet {

class JsonView {
 public:
  /// Absent.
  JsonView() = default;
  /// The value that stands in `text`, white space around it aside; absent when there is none.
  explicit JsonView(std::string_view text);

  [[nodiscard]] bool present() const { return kind_ != JsonReader::Kind::kEnd; }
  explicit operator bool() const { return present(); }
  [[nodiscard]] JsonReader::Kind kind() const { return kind_; }
  [[nodiscard]] bool is_object() const { return kind_ == JsonReader::Kind::kObject; }
  [[nodiscard]] bool is_array() const { return kind_ == JsonReader::Kind::kArray; }
  [[nodiscard]] bool is_string() const { return kind_ == JsonReader::Kind::kString; }
  [[nodiscard]] bool is_null() const { return kind_ == JsonReader::Kind::kNull; }
  /// The value's exact text; empty when absent.
  [[nodiscard]] std::string_view text() const { return text_; }

  /// The first member of that name; absent when this is not an object that has one.
  JsonView operator[](std::string_view key) const;

  /// The string, unescaped.
  [[nodiscard]] std::optional<std::string> String() const;
  /// An integer; a number such as 12.0 or 1e3 is none.
  [[nodiscard]] std::optional<std::int64_t> Int() const;
  [[nodiscard]] std::optional<bool> Bool() const;

  /// The string or, when this is none, `otherwise`.
  [[nodiscard]] std::string StringOr(std::string_view otherwise) const;
  [[nodiscard]] std::int64_t IntOr(std::int64_t otherwise) const {
    return Int().value_or(otherwise);
  }

  /// Calls `use(key, JsonView)` for each member of an object, in one pass; `key` is valid during
  /// the call only. False when this is no object or a damaged one, perhaps after some members.
  template <class Use>
  bool ForEachMember(Use use) const {
    JsonReader reader(text_);
    if (!is_object() || !reader.EnterObject()) return false;
    std::string_view key;
    std::string_view raw;
    while (reader.NextMember(&key) && reader.Skip(&raw)) use(key, JsonView(raw));
    return reader.AtEnd();
  }

  /// Calls `use(JsonView)` for each element of an array; for anything else, not at all.
  template <class Use>
  void ForEach(Use use) const {
    JsonReader reader(text_);
    if (!is_array() || !reader.EnterArray()) return;
    std::string_view raw;
    while (reader.NextElement() && reader.Skip(&raw)) use(JsonView(raw));
  }

 private:
  std::string_view text_;
  JsonReader::Kind kind_ = JsonReader::Kind::kEnd;
};

}  // namespace stet
