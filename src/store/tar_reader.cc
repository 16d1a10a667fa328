#include "store/tar_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/fs.h"

namespace stet::store {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kMaxExtension = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 50;

std::unexpected<Error> Cut() {
  return Fail(Code::kInvalid,
              "the tar is cut: it does not end as a tar does, so members may be missing; fetch or "
              "export it again");
}

std::unexpected<Error> NoTar() {
  return Fail(Code::kInvalid,
              "this is no tar that can be read: it has a header that is none; if it is compressed, "
              "unpack it first (gzip -dc FILE | stet sessions import -)");
}

std::string_view Field(const char* from, std::size_t size) { return {from, ::strnlen(from, size)}; }

/// Octal digits, or GNU's binary for what is larger; nothing when it is neither.
std::optional<std::uint64_t> Number(const char* from, std::size_t size) {
  const auto first = static_cast<unsigned char>(*from);
  if ((first & 0x80) != 0) {
    if (first != 0x80) return std::nullopt;  // Negative, or beyond every file.
    std::uint64_t number = 0;
    for (std::size_t i = 1; i < size; ++i) {
      if (number >> 56U != 0) return std::nullopt;
      number = number << 8U | static_cast<unsigned char>(from[i]);
    }
    return number;
  }
  std::string_view digits = Field(from, size);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  if (digits.empty()) return 0;
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

/// A block as POSIX has it.
struct TarReader::Header {
  char name[100];
  char mode[8];
  char owner[8];
  char group[8];
  char size[12];
  char changed[12];
  char checksum[8];
  char type;
  char target[100];
  char magic[6];
  char version[2];
  char owner_name[32];
  char group_name[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char rest[12];

  [[nodiscard]] bool IsEmpty() const {
    const std::string_view all(name, kBlock);
    return all.find_first_not_of('\0') == std::string_view::npos;
  }

  [[nodiscard]] bool IsSealed() const {
    const std::string_view all(name, kBlock);
    constexpr std::size_t kFrom = 148;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      sum += i >= kFrom && i < kFrom + sizeof checksum ? std::uint64_t{' '}
                                                       : static_cast<unsigned char>(all[i]);
    return Number(checksum, sizeof checksum) == sum;
  }

  [[nodiscard]] std::string Name() const {
    const std::string short_name(Field(name, sizeof name));
    const std::string_view above = Field(prefix, sizeof prefix);
    // GNU's own form has times where POSIX has the prefix.
    if (above.empty() || std::memcmp(magic, "ustar\0", sizeof magic) != 0) return short_name;
    return fmt::format("{}/{}", above, short_name);
  }

  [[nodiscard]] TarMember::Kind Kind() const {
    if (type == '5') return TarMember::Kind::kFolder;
    const bool file = type == '0' || type == '\0' || type == '7';
    return file ? TarMember::Kind::kFile : TarMember::Kind::kOther;
  }
};

/// False at the end.
Result<bool> TarReader::ReadHeader(Header& header) {
  static_assert(sizeof(Header) == kBlock);
  if (++members_ > kMaxMembers)
    return Fail(Code::kInvalid, fmt::format("the tar has more than {} members", kMaxMembers));
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd_, {header.name, kBlock}, at_));
  if (got < kBlock) return at_ == 0 ? NoTar() : Cut();
  if (header.IsEmpty()) return at_ == 0 ? NoTar() : Result<bool>(false);
  if (!header.IsSealed()) return NoTar();
  const std::optional<std::uint64_t> size = Number(header.size, sizeof header.size);
  if (!size || *size > kMaxSize) return NoTar();
  at_ += kBlock;
  return true;
}

Result<std::string> TarReader::ReadExtension(std::uint64_t size) {
  if (size > kMaxExtension)
    return Fail(Code::kInvalid, "the tar has a header of more than a megabyte");
  std::string text(size, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd_, text, at_));
  if (got < size) return Cut();
  at_ += (size + kBlock - 1) / kBlock * kBlock;
  return text;
}

/// Records "LENGTH KEY=VALUE\n".
Status TarReader::TakePax(std::string_view records, Said& said) {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 3 ||
        records[digits] != ' ' || records[length - 1] != '\n')
      return NoTar();
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const std::size_t equals = std::min(record.find('='), record.size() - 1);
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") said.name = value;
    // Sparse files have holes that are no content.
    if (key.starts_with("GNU.sparse"))
      return Fail(Code::kInvalid, "the tar has a sparse file, and no session has one");
    if (key == "size") {
      std::uint64_t size = 0;
      if (std::from_chars(value.data(), value.data() + value.size(), size).ec != std::errc() ||
          size > kMaxSize)
        return NoTar();
      said.size = size;
    }
    records.remove_prefix(length);
  }
  return {};
}

Result<std::optional<TarMember>> TarReader::Next() {
  Said said;
  for (;;) {
    Header header;
    ASSIGN_OR_RETURN(const bool more, ReadHeader(header));
    left_ = 0;
    if (!more) return std::nullopt;
    const std::uint64_t claimed = *Number(header.size, sizeof header.size);
    if (header.type == 'x' || header.type == 'g' || header.type == 'L' || header.type == 'K') {
      ASSIGN_OR_RETURN(const std::string text, ReadExtension(claimed));
      if (header.type == 'x') RETURN_IF_ERROR(TakePax(text, said));
      if (header.type == 'L') said.name = std::string(Field(text.data(), text.size()));
      continue;
    }
    TarMember member{.name = said.name.value_or(header.Name()), .kind = header.Kind()};
    if (member.name.size() > kMaxName)
      return Fail(Code::kInvalid, "the tar has a name of more than 4096 bytes");
    // Links and devices have no content, whatever they say.
    const bool has_content = header.type != '1' && header.type != '2' && header.type != '3' &&
                             header.type != '4' && header.type != '5' && header.type != '6';
    member.size = has_content ? said.size.value_or(claimed) : 0;
    const std::uint64_t end = at_ + (member.size + kBlock - 1) / kBlock * kBlock;
    if (end > bytes_) return Cut();
    from_ = at_;
    left_ = member.size;
    at_ = end;
    return member;
  }
}

Result<std::size_t> TarReader::Read(std::span<char> buffer) {
  const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), left_);
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd_, buffer.subspan(0, wanted), from_));
  if (got < wanted) return Cut();
  from_ += got;
  left_ -= got;
  return got;
}

}  // namespace stet::store
