#include "provider/sse.h"

#include <algorithm>

namespace stet::provider {

bool SseParser::Feed(std::string_view bytes, const OnEvent& on_event) {
  while (!bytes.empty() && !too_large_) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const auto* line_end =
        std::ranges::find_if(bytes, [](char c) { return c == '\n' || c == '\r'; });
    if (line_end == bytes.end()) {
      line_ += bytes;
      too_large_ = line_.size() > kMaxEvent;
      break;
    }
    after_cr_ = *line_end == '\r';
    const std::string_view rest(bytes.begin(), line_end);
    bytes.remove_prefix(rest.size() + 1);
    if (line_.empty()) {
      too_large_ = !TakeLine(rest, on_event);
    } else {
      line_ += rest;
      too_large_ = !TakeLine(line_, on_event);
      line_.clear();
    }
  }
  return !too_large_;
}

bool SseParser::Finish(const OnEvent& on_event) {
  if (too_large_) return false;
  if (!line_.empty()) too_large_ = !TakeLine(line_, on_event);
  line_.clear();
  if (!too_large_) Dispatch(on_event);
  return !too_large_;
}

bool SseParser::TakeLine(std::string_view line, const OnEvent& on_event) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.size() > kMaxEvent) return false;
  if (at_start_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  at_start_ = false;
  if (line.empty()) {
    Dispatch(on_event);
    return true;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    event_ = value;
  } else if (field == "data") {
    if (has_data_) data_ += '\n';
    has_data_ = true;
    data_ += value;
  }
  return data_.size() + event_.size() <= kMaxEvent;
}

void SseParser::Dispatch(const OnEvent& on_event) {
  if (has_data_) on_event(event_, data_);
  event_.clear();
  data_.clear();
  has_data_ = false;
}

}  // namespace stet::provider
