#include "tool/git/ewah.h"

#include <bit>

namespace stet::tool {
namespace {

constexpr std::size_t kWordBits = 64;

std::uint64_t BigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

/// How many bits, how many words, the words, and where the last run begins.
std::optional<EwahBits> EwahBits::Take(std::string_view& bytes) {
  constexpr std::size_t kNumber = 4;
  constexpr std::size_t kWord = 8;
  if (bytes.size() < 2 * kNumber) return std::nullopt;
  const std::size_t count = BigEndian(bytes.substr(kNumber, kNumber));
  bytes.remove_prefix(2 * kNumber);
  if (bytes.size() < kNumber || (bytes.size() - kNumber) / kWord < count) return std::nullopt;
  EwahBits bits;
  bits.words_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    bits.words_.push_back(BigEndian(bytes.substr(i * kWord, kWord)));
  bytes.remove_prefix(count * kWord + kNumber);
  return bits;
}

/// A word that begins a run has: a bit, how many words have only that bit (32 bits), and how many
/// words follow as they are (31 bits).
bool EwahBits::ForEach(std::size_t limit, const std::function<void(std::size_t)>& call) const {
  std::size_t base = 0;
  for (std::size_t at = 0; at < words_.size();) {
    const std::uint64_t head = words_[at++];
    const bool set = (head & 1U) != 0;
    const std::uint64_t same = head >> 1U & 0xFFFFFFFFU;
    const std::uint64_t plain = head >> 33U;
    if (set) {
      if (base + same * kWordBits > limit + kWordBits - 1) return false;
      for (std::size_t end = base + same * kWordBits; base < end; ++base) {
        if (base >= limit) return false;
        call(base);
      }
    } else {
      base += same * kWordBits;
    }
    if (plain > words_.size() - at) return false;
    for (std::uint64_t i = 0; i < plain; ++i, base += kWordBits) {
      for (std::uint64_t left = words_[at++]; left != 0; left &= left - 1) {
        const std::size_t bit = base + static_cast<std::size_t>(std::countr_zero(left));
        if (bit >= limit) return false;
        call(bit);
      }
    }
  }
  return true;
}

}  // namespace stet::tool
