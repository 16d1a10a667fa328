// What git calls contents: the hash of a blob, in both of its formats.
//
// Fixed by git's format. SHA-1 gives no protection against somebody who prepared two contents with
// one name. Pure; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stet::tool {

enum class GitFormat { kSha1, kSha256 };

/// The bytes of an id.
constexpr std::size_t IdSize(GitFormat format) { return format == GitFormat::kSha1 ? 20 : 32; }

class Sha1 {
 public:
  void Update(std::string_view bytes);
  /// 40 lower-case hex digits. Call once, last.
  std::string FinishHex();

 private:
  void Block(const unsigned char* block);

  std::array<std::uint32_t, 5> state_ = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476,
                                         0xC3D2E1F0};
  std::array<unsigned char, 64> rest_{};
  std::uint64_t size_ = 0;
};

/// The name of a blob with these bytes, in hex.
std::string BlobId(std::string_view bytes, GitFormat format);

/// Lower-case hex.
std::string HexOf(std::string_view bytes);

/// Whether it is an id in lower-case hex.
bool IsId(std::string_view text, GitFormat format);

}  // namespace stet::tool
