#include "provider/sse.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace stet::provider {
namespace {

/// Where the first line break is, CR or LF; the end when there is none. Looks at 8 bytes a step.
std::size_t FindLineBreak(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  // The lowest bit that is set belongs to the first zero byte.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighs; };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const std::uint64_t found = zeros(word ^ (kOnes * '\n')) | zeros(word ^ (kOnes * '\r'));
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }
  while (at < bytes.size() && bytes[at] != '\n' && bytes[at] != '\r') ++at;
  return at;
}

}  // namespace

bool SseParser::Feed(std::string_view bytes, const OnEvent& on_event) {
  while (!bytes.empty() && !too_large_) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t length = FindLineBreak(bytes);
    if (length == bytes.size()) {
      line_ += bytes;
      too_large_ = line_.size() > kMaxEvent;
      break;
    }
    after_cr_ = bytes[length] == '\r';
    const std::string_view rest = bytes.substr(0, length);
    bytes.remove_prefix(length + 1);
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
