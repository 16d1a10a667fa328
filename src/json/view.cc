#include "json/view.h"

#include <charconv>

namespace stet {

static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

JsonView::JsonView(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  if (text.empty()) return;
  const JsonReader::Kind kind = JsonReader::KindByFirst(text.front());
  if (kind == JsonReader::Kind::kBad) return;
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
  if (kind_ != JsonReader::Kind::kNumber) return std::nullopt;
  std::int64_t out = 0;
  const char* begin = text_.data();
  const char* end = begin + text_.size();
  const auto [stop, error] = std::from_chars(begin, end, out);
  return error == std::errc() && stop == end ? std::optional(out) : std::nullopt;
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
