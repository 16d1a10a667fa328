#include "base/json_view.h"

#include <algorithm>

namespace stet {

JsonView::JsonView(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kSpace) + 1));
  JsonReader reader(text);
  const JsonReader::Kind kind = reader.Peek();
  if (kind == JsonReader::Kind::kBad || kind == JsonReader::Kind::kEnd) return;
  text_ = text;
  kind_ = kind;
}

JsonView JsonView::operator[](std::string_view key) const {
  JsonReader reader(text_);
  if (!is_object() || !reader.EnterObject()) return {};
  std::string_view name;
  while (reader.NextMember(&name)) {
    const bool match = name == key;
    std::string_view raw;
    if (!reader.Skip(&raw)) return {};
    if (match) return JsonView(raw);
  }
  return {};
}

std::optional<std::string> JsonView::String() const {
  JsonReader reader(text_);
  std::string out;
  if (!is_string() || !reader.String(&out)) return std::nullopt;
  return out;
}

std::optional<std::int64_t> JsonView::Int() const {
  JsonReader reader(text_);
  std::int64_t out = 0;
  if (kind_ != JsonReader::Kind::kNumber || !reader.Int(&out)) return std::nullopt;
  return out;
}

std::optional<bool> JsonView::Bool() const {
  JsonReader reader(text_);
  bool out = false;
  if (kind_ != JsonReader::Kind::kBool || !reader.Bool(&out)) return std::nullopt;
  return out;
}

std::string JsonView::StringOr(std::string_view otherwise) const {
  std::optional<std::string> text = String();
  return text ? *std::move(text) : std::string(otherwise);
}

}  // namespace stet
