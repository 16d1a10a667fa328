#include "tool/text_file.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/utf8.h"

namespace stet::tool {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kUtf16LeMark = "\xFF\xFE";
constexpr std::string_view kUtf16BeMark = "\xFE\xFF";
/// Where a NUL makes a file binary.
constexpr std::size_t kBinaryProbe = 8192;

bool IsHigh(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLow(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/// Sets `exact` to false when there is a lone surrogate or half a unit.
std::string FromUtf16(std::string_view bytes, bool little, bool& exact) {
  const auto unit = [&](std::size_t i) -> char32_t {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    return little ? first | second << 8 : first << 8 | second;
  };
  std::string text;
  text.reserve(bytes.size());
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) {
    char32_t code = unit(at);
    if (IsHigh(code) && at + 3 < bytes.size() && IsLow(unit(at + 2))) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
      at += 2;
    } else if (IsHigh(code) || IsLow(code)) {
      exact = false;
    }
    AppendUtf8(text, code);
  }
  if (at < bytes.size()) {
    exact = false;
    AppendUtf8(text, U'\uFFFD');
  }
  return text;
}

/// The code point at the front of valid UTF-8, which is taken off.
char32_t TakeCodePoint(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t code = length == 1 ? first : first & (0x7F >> length);
  for (std::size_t i = 1; i < length && i < text.size(); ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

std::string ToUtf16(std::string_view text, bool little) {
  std::string bytes(little ? kUtf16LeMark : kUtf16BeMark);
  const auto put = [&](char32_t unit) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += little ? low : high;
    bytes += little ? high : low;
  };
  const std::string valid = ReplaceInvalidUtf8(text);
  for (std::string_view rest = valid; !rest.empty();) {
    const char32_t code = TakeCodePoint(rest);
    if (code < 0x10000) {
      put(code);
    } else {
      put(0xD800 + ((code - 0x10000) >> 10));
      put(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  return bytes;
}

std::string_view KindOf(const FileStat& stat) {
  return stat.is_dir ? "a folder" : "not a regular file (a pipe, socket or device)";
}

}  // namespace

Result<FileBytes> ReadRegularFile(const std::string& path, std::size_t max_bytes) {
  const auto check = [&](const FileStat& stat) -> Status {
    if (!stat.is_file) return Fail(Code::kInvalid, fmt::format("{} is {}.", path, KindOf(stat)));
    if (stat.size > max_bytes)
      return Fail(Code::kInvalid, fmt::format("{} has {} bytes; {} is the most that is read.", path,
                                              stat.size, max_bytes));
    return {};
  };
  // Before opening as well: to open a device may do something.
  ASSIGN_OR_RETURN(const FileStat before, StatFile(path));
  RETURN_IF_ERROR(check(before));
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  FileBytes file;
  ASSIGN_OR_RETURN(file.stat, StatFd(fd.get()));
  RETURN_IF_ERROR(check(file.stat));
  file.bytes.resize(file.stat.size);
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd.get(), file.bytes, 0));
  file.bytes.resize(got);
  return file;
}

TextFile DecodeText(std::string_view bytes) {
  TextFile file;
  if (bytes.starts_with(kUtf16LeMark) || bytes.starts_with(kUtf16BeMark)) {
    file.encoding = bytes.starts_with(kUtf16LeMark) ? Encoding::kUtf16Le : Encoding::kUtf16Be;
    file.text = FromUtf16(bytes.substr(2), file.encoding == Encoding::kUtf16Le, file.exact);
  } else {
    if (bytes.starts_with(kUtf8Mark)) {
      file.encoding = Encoding::kUtf8WithMark;
      bytes.remove_prefix(kUtf8Mark.size());
    }
    file.text = bytes;
  }
  file.binary = std::string_view(file.text).substr(0, kBinaryProbe).find('\0') != std::string::npos;
  if (file.binary) {
    file.text.clear();
    file.exact = false;
  } else if (!IsValidUtf8(file.text)) {
    file.text = ReplaceInvalidUtf8(file.text);
    file.exact = false;
  }
  return file;
}

std::string EncodeText(std::string_view text, Encoding encoding) {
  switch (encoding) {
    case Encoding::kUtf8: break;
    case Encoding::kUtf8WithMark: return std::string(kUtf8Mark).append(text);
    case Encoding::kUtf16Le: return ToUtf16(text, true);
    case Encoding::kUtf16Be: return ToUtf16(text, false);
  }
  return std::string(text);
}

LfText::LfText(std::string_view original) {
  text_.reserve(original.size());
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (original[i] == '\r' && i + 1 < original.size() && original[i + 1] == '\n') {
      crlf_.push_back(text_.size());
      continue;
    }
    text_ += original[i];
  }
}

std::size_t LfText::InOriginal(std::size_t place) const {
  // A "\r" stands before the "\n" at its place, so it is passed only by what is behind that.
  const auto passed = std::ranges::lower_bound(crlf_, place) - crlf_.begin();
  return place + static_cast<std::size_t>(passed);
}

bool LfText::CrLfNear(std::size_t place) const {
  std::size_t end = text_.find('\n', place);
  if (end == std::string::npos) end = text_.rfind('\n');
  return end != std::string::npos && std::ranges::binary_search(crlf_, end);
}

std::string ToLf(std::string_view text) { return LfText(text).text(); }

std::string ToCrLf(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
    out += text[i];
  }
  return out;
}

bool MostlyCrLf(std::string_view text) {
  std::size_t crlf = 0;
  std::size_t all = 0;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    ++all;
    if (at > 0 && text[at - 1] == '\r') ++crlf;
  }
  return 2 * crlf > all;
}

}  // namespace stet::tool
