// Events: a list of server-sent events as the bytes of a stream, and the writer that frames them.
//
// Values without locks; nothing here fails. Texts are valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace stet::emulator {

struct Events {
  std::string bytes;
  std::vector<std::size_t> ends;  // Where each event ends in `bytes`.
  std::size_t content = 0;        // How many come before those that say that the reply is complete.

  [[nodiscard]] std::size_t count() const { return ends.size(); }
  [[nodiscard]] std::string_view at(std::size_t index) const {
    const std::size_t start = index == 0 ? 0 : ends[index - 1];
    return std::string_view(bytes).substr(start, ends[index] - start);
  }
};

struct Framing {
  bool crlf = false;
  bool space = true;  // After the colon.
  bool comments = false;
};

class EventWriter {
 public:
  explicit EventWriter(Framing framing) : framing_(framing) {}

  /// `name` may be empty; `data` is one line.
  void Add(std::string_view name, std::string_view data) {
    const std::string_view line_end = framing_.crlf ? "\r\n" : "\n";
    if (framing_.comments) ((events_.bytes += ": PROCESSING") += line_end) += line_end;
    if (!name.empty()) Line("event:", name, line_end);
    Line("data:", data, line_end);
    events_.bytes += line_end;
    events_.ends.push_back(events_.bytes.size());
  }

  /// What is added from now on says that the reply is complete.
  void EndOfContent() { events_.content = events_.count(); }

  Events TakeEvents() { return std::move(events_); }

 private:
  void Line(std::string_view field, std::string_view value, std::string_view line_end) {
    events_.bytes += field;
    if (framing_.space) events_.bytes += ' ';
    (events_.bytes += value) += line_end;
  }

  Framing framing_;
  Events events_;
};

/// Calls `use` with the parts of `text`, each of at most `max_bytes` but of at least one code
/// point. An empty text has no parts.
template <class Use>
void ForEachPart(std::string_view text, std::size_t max_bytes, Use use) {
  while (!text.empty()) {
    std::size_t length = Utf8PrefixLength(text, max_bytes);
    for (std::size_t more = max_bytes + 1; length == 0; ++more)
      length = Utf8PrefixLength(text, more);
    use(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace stet::emulator
