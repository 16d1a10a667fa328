// UTF-8 on arbitrary bytes, against a plain decoder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/utf8.h"

namespace stet::fuzz {
namespace {

/// One code point by the book; its length, or 0 when the bytes are none.
std::size_t Decode(std::string_view text, char32_t* point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC0 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF8 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  *point = length == 1 ? first : first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    *point = *point << 6U | (byte(i) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = *point >= 0xD800 && *point < 0xE000;
  return *point >= kLeast[length] && *point <= 0x10FFFF && !surrogate ? length : 0;
}

bool ValidByTheBook(std::string_view text) {
  char32_t point = 0;
  while (!text.empty()) {
    const std::size_t length = Decode(text, &point);
    if (length == 0) return false;
    std::string again;
    AppendUtf8(again, point);
    CHECK(again == text.substr(0, length), "a code point is written as it was read");
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool valid = IsValidUtf8(text);
  CHECK(valid == ValidByTheBook(text), "valid by the book");
  const std::string mended = ReplaceInvalidUtf8(text);
  CHECK(IsValidUtf8(mended), "mended text is valid");
  CHECK(!valid || mended == text, "valid text is left alone");
  for (const std::size_t most : {std::size_t{0}, size / 3, size / 2, size, size + 1}) {
    const std::size_t length = Utf8PrefixLength(mended, most);
    CHECK(length <= most && length <= mended.size(), "a prefix is no longer than asked");
    CHECK(IsValidUtf8(std::string_view(mended).substr(0, length)), "and cuts no code point");
    CHECK(length + 3 >= std::min(most, mended.size()), "and is as long as can be");
  }
  return 0;
}

}  // namespace stet::fuzz
