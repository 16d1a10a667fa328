#include "provider/sse.h"

#include <algorithm>
#include <utility>

namespace stet::provider {
namespace {

/// The line breaks of some bytes, in order. Each LF is looked for once, however many CR come before
/// it: the work is linear.
class LineBreaks {
 public:
  explicit LineBreaks(std::string_view bytes) : bytes_(bytes), lf_(bytes.find('\n')) {}

  /// The first CR or LF at `from` or behind it, which is not before the last call's; npos when
  /// there is none.
  std::size_t Find(std::size_t from) {
    if (lf_ < from) lf_ = bytes_.find('\n', from);
    const std::size_t cr = bytes_.substr(0, lf_).find('\r', from);
    return std::min(cr, lf_);
  }

 private:
  std::string_view bytes_;
  std::size_t lf_;
};

}  // namespace

bool SseParser::Feed(std::string_view bytes, const OnEvent& on_event) {
  LineBreaks breaks(bytes);
  std::size_t at = 0;
  while (at < bytes.size() && !too_large_) {
    if (std::exchange(after_cr_, false) && bytes[at] == '\n') {
      ++at;
      continue;
    }
    const std::size_t end = breaks.Find(at);
    const std::string_view rest = bytes.substr(at, end - at);
    if (end == std::string_view::npos) {
      line_ += rest;
      too_large_ = line_.size() > kMaxEvent;
      break;
    }
    after_cr_ = bytes[end] == '\r';
    at = end + 1;
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
