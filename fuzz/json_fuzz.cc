// The JSON reader on arbitrary text: it never crashes, its two ways over a value agree, the slices
// that it hands out are values themselves, and what we write as a string is read back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "json/json.h"

namespace stet::fuzz {
namespace {

/// Reads one value member by member, as decoders do.
bool Walk(JsonReader& reader) {
  std::vector<bool> open;  // True for an object.
  while (true) {
    std::string text;
    switch (reader.Peek()) {
      case JsonReader::Kind::kObject:
      case JsonReader::Kind::kArray: {
        if (open.size() == JsonReader::kMaxDepth) return false;
        const bool object = reader.Peek() == JsonReader::Kind::kObject;
        open.push_back(object);
        if (object ? !reader.EnterObject() : !reader.EnterArray()) return false;
        break;
      }
      case JsonReader::Kind::kString:
        if (!reader.String(&text)) return false;
        break;
      default:
        if (!reader.Skip()) return false;
    }
    // To the next value, leaving what ends here.
    while (!open.empty()) {
      std::string_view key;
      if (open.back() ? reader.NextMember(&key) : reader.NextElement()) break;
      if (!reader.ok()) return false;
      open.pop_back();
    }
    if (open.empty()) return true;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  JsonReader skipper(text);
  std::string_view slice;
  const bool skipped = skipper.Skip(&slice);
  JsonReader walker(text);
  CHECK(Walk(walker) == skipped, "walking and skipping agree");
  if (skipped) {
    CHECK(CheckJson(slice).has_value(), "a skipped value is a value");
    CHECK(skipper.AtEnd() == walker.AtEnd(), "both end at the same byte");
  } else {
    CHECK(!skipper.ok() && !skipper.error().message.empty(), "a failure says why");
  }
  CHECK(CheckJson(text).has_value() == (skipped && skipper.AtEnd()),
        "CheckJson is Skip to the end");

  if (const auto raw = Raw::From(text)) {
    CHECK(raw->text.find_first_of("\r\n") == std::string::npos, "raw JSON is one line");
    CHECK(IsValidUtf8(raw->text), "raw JSON is UTF-8");
    CHECK(Raw::From(raw->text) == raw, "raw JSON is a fixed point");
  }

  std::string quoted;
  AppendJsonString(quoted, text);
  std::string back;
  JsonReader reader(quoted);
  CHECK(reader.String(&back) && reader.AtEnd(), "what we write can be read");
  CHECK(back == ReplaceInvalidUtf8(text), "and says the same");
  return 0;
}

}  // namespace stet::fuzz
