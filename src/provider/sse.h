// SseParser: server-sent events out of bytes that come in any pieces.
//
// Takes LF, CRLF and CR line ends, a byte order mark, comments, `data:` without a space and data of
// several lines. An event without data is none. Its memory is bounded by the largest event.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace stet::provider {

class SseParser {
 public:
  /// An event, or a line of one, that is larger than this ends the stream.
  static constexpr std::size_t kMaxEvent = std::size_t{16} << 20;

  /// `event` is the event's name, empty when it has none; both are valid during the call only.
  using OnEvent = std::function<void(std::string_view event, std::string_view data)>;

  /// False when an event is too large; every later call is false too.
  bool Feed(std::string_view bytes, const OnEvent& on_event);
  /// The bytes ended: hands out a last event that has no blank line behind it.
  bool Finish(const OnEvent& on_event);

 private:
  bool TakeLine(std::string_view line, const OnEvent& on_event);
  void Dispatch(const OnEvent& on_event);

  std::string line_;  // The beginning of a line whose end has not come yet.
  std::string event_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;  // A LF now belongs to the CR before it.
  bool at_start_ = true;
  bool too_large_ = false;
};

}  // namespace stet::provider
