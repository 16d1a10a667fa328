#include "tool/git/blob_id.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/hash.h"

namespace stet::tool {
namespace {

constexpr std::size_t kSha1Block = 64;

std::uint32_t BigEndian32(const unsigned char* at) {
  return std::uint32_t{at[0]} << 24U | std::uint32_t{at[1]} << 16U | std::uint32_t{at[2]} << 8U |
         at[3];
}

}  // namespace

void Sha1::Block(const unsigned char* block) {
  std::array<std::uint32_t, 80> words;
  for (std::size_t i = 0; i < 16; ++i) words[i] = BigEndian32(block + 4 * i);
  for (std::size_t i = 16; i < 80; ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  auto [a, b, c, d, e] = state_;
  const auto round = [&](std::uint32_t mixed, std::uint32_t constant, std::uint32_t word) {
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + constant + word;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  for (std::size_t i = 0; i < 20; ++i) round(d ^ (b & (c ^ d)), 0x5A827999, words[i]);
  for (std::size_t i = 20; i < 40; ++i) round(b ^ c ^ d, 0x6ED9EBA1, words[i]);
  for (std::size_t i = 40; i < 60; ++i) round((b & c) | (d & (b | c)), 0x8F1BBCDC, words[i]);
  for (std::size_t i = 60; i < 80; ++i) round(b ^ c ^ d, 0xCA62C1D6, words[i]);
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
  state_[4] += e;
}

void Sha1::Update(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  const std::size_t held = size_ % kSha1Block;
  size_ += left;
  if (held > 0) {
    const std::size_t taken = std::min(left, kSha1Block - held);
    std::memcpy(rest_.data() + held, data, taken);
    if (held + taken < kSha1Block) return;
    Block(rest_.data());
    data += taken;
    left -= taken;
  }
  for (; left >= kSha1Block; data += kSha1Block, left -= kSha1Block) Block(data);
  if (left > 0) std::memcpy(rest_.data(), data, left);
}

std::string Sha1::FinishHex() {
  const std::uint64_t bits = size_ * 8;
  constexpr std::size_t kLengthBytes = 8;
  std::string tail("\x80");
  while ((size_ + tail.size()) % kSha1Block != kSha1Block - kLengthBytes) tail += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift & 0xFFU);
  Update(tail);
  std::string hex;
  for (const std::uint32_t word : state_) hex += fmt::format("{:08x}", word);
  return hex;
}

std::string BlobId(std::string_view bytes, GitFormat format) {
  std::string head = fmt::format("blob {}", bytes.size());
  head += '\0';
  const auto hashed = [&](auto hash) {
    hash.Update(head);
    hash.Update(bytes);
    return hash.FinishHex();
  };
  return format == GitFormat::kSha1 ? hashed(Sha1()) : hashed(Sha256());
}

std::string HexOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    hex += kDigits[value >> 4U];
    hex += kDigits[value & 15U];
  }
  return hex;
}

bool IsId(std::string_view text, GitFormat format) {
  return text.size() == 2 * IdSize(format) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace stet::tool
