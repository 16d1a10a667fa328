// Hashes: FastHash (XXH3, 64 bits) to notice damage and change, SHA-256 to name content.
//
// Both are fixed by their specifications: the same on every machine and in every version, so they
// may be stored. FastHash gives no protection against an adversary. The functions are safe from any
// thread; a Sha256 belongs to one. Only Sha256File can fail, as reading a file does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet {

std::uint64_t FastHash(std::string_view bytes);

/// 16 lower-case hex digits, the most significant first.
std::string FastHashHex(std::string_view bytes);

void AppendHex64(std::string& out, std::uint64_t value);

class Sha256 {
 public:
  Sha256();
  void Update(std::string_view bytes);

  /// 64 lower-case hex digits. Call once, last.
  std::string FinishHex();

 private:
  // The library's state, kept opaque so that its header stays in hash.cc.
  alignas(8) std::array<std::byte, 104> state_;
};

std::string Sha256Hex(std::string_view bytes);

/// Reads the file in pieces, whatever its size.
Result<std::string> Sha256File(const std::string& path);

}  // namespace stet
