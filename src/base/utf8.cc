#include "base/utf8.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace stet {

namespace {

constexpr std::string_view kReplacement = "\uFFFD";

/// A code point, or the longest run of bytes that one bad sequence takes.
struct Piece {
  std::size_t length;
  bool valid;
};

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// What starts at the front of `text`, which is not empty. Table 3-7 of the Unicode standard.
Piece NextPiece(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, true};
  if (first < 0xC2 || first > 0xF4) return {1, false};

  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte alone decides about overlong forms, surrogates and the upper end.
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (text.size() < 2 || byte(1) < low || byte(1) > high) return {1, false};
  for (std::size_t i = 2; i < length; ++i)
    if (i >= text.size() || !IsContinuation(byte(i))) return {i, false};
  return {length, true};
}

/// How many bytes at the front are ASCII; looks at 16, then at 8 in one step.
std::size_t AsciiLength(std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const auto word = [&](std::size_t i) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, sizeof bytes);
    return bytes;
  };
  std::size_t at = 0;
  while (at + 16 <= text.size() && ((word(at) | word(at + 8)) & kHighBits) == 0) at += 16;
  for (; at + 8 <= text.size(); at += 8)
    if (const std::uint64_t high = word(at) & kHighBits; high != 0)
      return at + static_cast<std::size_t>(std::countr_zero(high)) / 8;
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

/// The length of the longest valid prefix.
std::size_t ValidLength(std::string_view text) {
  std::size_t at = 0;
  for (;;) {
    at += AsciiLength(text.substr(at));
    if (at == text.size()) return at;
    // Letters of other scripts come in runs.
    do {
      const Piece piece = NextPiece(text.substr(at));
      if (!piece.valid) return at;
      at += piece.length;
    } while (at < text.size() && static_cast<unsigned char>(text[at]) >= 0x80);
  }
}

}  // namespace

bool IsValidUtf8(std::string_view text) { return ValidLength(text) == text.size(); }

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const std::size_t valid = ValidLength(text);
    out.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) return out;
    out.append(kReplacement);
    text.remove_prefix(NextPiece(text).length);
  }
}

std::size_t Utf8PrefixLength(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text.size();
  constexpr std::size_t kLongest = 4;
  for (std::size_t back = 1; back < kLongest && back <= max_bytes; ++back) {
    const std::size_t at = max_bytes - back;
    if (IsContinuation(static_cast<unsigned char>(text[at]))) continue;
    const Piece piece = NextPiece(text.substr(at));
    return piece.valid && piece.length > back ? at : max_bytes;
  }
  return max_bytes;
}

void AppendUtf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  const auto continuation = [&](int shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    return continuation(0);
  }
  const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (is_surrogate || code_point > 0x10FFFF) {
    out.append(kReplacement);
    return;
  }
  if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
  } else {
    put(0xF0 | code_point >> 18);
    continuation(12);
  }
  continuation(6);
  continuation(0);
}

}  // namespace stet
