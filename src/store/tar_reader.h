// TarReader: the members of a tar (ustar, pax, GNU), one after the other, out of a file.
//
// Nothing is unpacked, and no more is held than a header: what a member is called and how large it
// says it is are claims of whoever made the tar. Fails with kInvalid for what is no tar, for one
// that is cut, in a member or behind one, and for names and counts beyond the bounds. Owned by one
// thread; blocks on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::store {

struct TarMember {
  enum class Kind { kFile, kFolder, kOther };  // Other: links, devices, what we do not know.

  std::string name;  // As the tar has it.
  Kind kind = Kind::kOther;
  std::uint64_t size = 0;  // Of a file.
};

class TarReader {
 public:
  static constexpr std::size_t kMaxName = 4096;
  static constexpr std::uint64_t kMaxMembers = 2'000'000;

  /// `fd` is a regular file of `bytes` bytes, and outlives this.
  TarReader(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {}

  /// The next member; nothing at the tar's end. What was not read of the one before is passed over.
  Result<std::optional<TarMember>> Next();

  /// More of the content of the member that Next gave: less than `buffer` has room for at its end.
  Result<std::size_t> Read(std::span<char> buffer);

 private:
  struct Header;
  /// What extended headers say of the next member.
  struct Said {
    std::optional<std::string> name;
    std::optional<std::uint64_t> size;
  };

  Result<bool> ReadHeader(Header& header);
  Result<std::string> ReadExtension(std::uint64_t size);
  static Status TakePax(std::string_view records, Said& said);

  int fd_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;    // Of the next header.
  std::uint64_t left_ = 0;  // Of the member's content.
  std::uint64_t from_ = 0;  // Where what is left begins.
  std::uint64_t members_ = 0;
};

}  // namespace stet::store
