// Server-sent events out of arbitrary bytes: the same events in any pieces, whole lines only, and
// what is written as an event is read back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "provider/sse.h"

namespace stet::fuzz {
namespace {

/// The events as one text in which names and data cannot be mistaken for each other.
std::string Parsed(std::string_view bytes, Random& random, std::size_t longest) {
  provider::SseParser parser;
  std::string out;
  const auto on_event = [&](std::string_view event, std::string_view data) {
    CHECK(event.find_first_of("\r\n") == std::string_view::npos, "a name is one line");
    CHECK(data.find('\r') == std::string_view::npos, "no line end but LF is in data");
    out += std::to_string(event.size()) + ":" + std::string(event) + std::to_string(data.size()) +
           ":" + std::string(data);
  };
  bool ok = true;
  while (!bytes.empty()) {
    const std::size_t length = std::min<std::size_t>(1 + random.Below(longest), bytes.size());
    ok = parser.Feed(bytes.substr(0, length), on_event);
    bytes.remove_prefix(length);
  }
  CHECK(parser.Finish(on_event) == ok, "a stream that was refused stays refused");
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Random random(size);
  const std::string whole = Parsed(bytes, random, size + 1);
  CHECK(Parsed(bytes, random, 1) == whole, "single bytes give the same events");
  CHECK(Parsed(bytes, random, 8) == whole, "pieces give the same events");

  // As the data of an event, line by line.
  std::string event = "data: ";
  std::string expected;
  for (const char c : bytes) {
    if (c == '\r') continue;
    expected += c;
    event += c;
    if (c == '\n') event += "data: ";
  }
  std::string back;
  provider::SseParser parser;
  parser.Feed(event + "\n\n", [&](std::string_view, std::string_view read) { back = read; });
  CHECK(back == expected, "what is written is read back");
  return 0;
}

}  // namespace stet::fuzz
