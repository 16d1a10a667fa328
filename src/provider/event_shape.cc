#include "provider/event_shape.h"

#include <algorithm>

namespace stet::provider {

void EventShape::Learn(std::string_view event, std::string_view data,
                       std::span<const JsonView> loose) {
  Forget();
  if (!loose[0].is_string() || data.size() > kMaxBytes || event.size() > kMaxBytes) return;
  gap_count_ = 0;
  values_ = {};
  for (std::size_t place = 0; place < loose.size(); ++place) {
    const JsonView& value = loose[place];
    if (!value) continue;
    const auto begin = static_cast<std::size_t>(value.text().data() - data.data());
    gaps_[gap_count_++] = {begin, begin + value.text().size(), value.kind(), place};
  }
  std::ranges::sort(std::span(gaps_).first(gap_count_), {}, &Gap::begin);
  event_ = event;
  data_ = data;
}

bool EventShape::Fits(std::string_view event, std::string_view data) {
  if (data_.empty() || event != event_) return false;
  std::string_view fixed = data_;
  std::size_t passed = 0;  // Of data_.
  for (const Gap& gap : std::span(gaps_).first(gap_count_)) {
    const std::string_view before = fixed.substr(passed, gap.begin - passed);
    if (!data.starts_with(before)) return false;
    data.remove_prefix(before.size());
    JsonReader reader(data);
    std::string_view raw;
    if (reader.Peek() != gap.kind || !reader.Skip(&raw)) return false;
    values_[gap.place] = JsonView(raw);
    data.remove_prefix(static_cast<std::size_t>(raw.data() + raw.size() - data.data()));
    passed = gap.end;
  }
  return data == fixed.substr(passed);
}

std::string_view EventShape::Text() {
  const std::string_view raw = values_[0].text();
  if (raw.find('\\') == std::string_view::npos) return raw.substr(1, raw.size() - 2);
  JsonReader reader(raw);
  reader.String(&text_);
  return text_;
}

}  // namespace stet::provider
