// TextFile: a file as text, and back to bytes without changing what was not edited: encoding, byte
// order mark, line ends and the lack of a final newline survive.
//
// Reading never blocks on a FIFO and never touches a device. Encoding and decoding are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fs.h"
#include "base/result.h"
#include "base/text.h"

namespace stet::tool {

/// Larger files are not shown or edited as text.
inline constexpr std::size_t kMaxTextBytes = std::size_t{10} << 20;

/// The bytes of a regular file and what the system said of it just before. kInvalid for a folder,
/// a FIFO, socket or device, and for a file larger than `max_bytes`.
struct FileBytes {
  std::string bytes;
  FileStat stat;
};
Result<FileBytes> ReadRegularFile(const std::string& path, std::size_t max_bytes);

enum class Encoding { kUtf8, kUtf8WithMark, kUtf16Le, kUtf16Be };

struct TextFile {
  Encoding encoding = Encoding::kUtf8;
  bool binary = false;  // A NUL near the start: `text` is empty.
  /// EncodeText gives the same bytes back. When not, bad parts stand in `text` as U+FFFD.
  bool exact = true;
  std::string text;  // UTF-8 without a mark; line ends as they are.
};

TextFile DecodeText(std::string_view bytes);
std::string EncodeText(std::string_view text, Encoding encoding);

/// Text with "\n" for every "\r\n", and the way back. A lone "\r" is a character like any other.
class LfText {
 public:
  explicit LfText(std::string_view original);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Where a place of text() is in the original.
  [[nodiscard]] std::size_t InOriginal(std::size_t place) const;
  /// Whether the line end nearest to `place` is "\r\n": at or after it, else before it.
  [[nodiscard]] bool CrLfNear(std::size_t place) const;

 private:
  std::string text_;
  std::vector<std::size_t> crlf_;  // The places of "\n" that had a "\r" before them.
};

/// "\n" for every "\r\n".
std::string ToLf(std::string_view text);
/// "\r\n" for every "\n" that has no "\r" before it.
std::string ToCrLf(std::string_view text);
/// More lines end in "\r\n" than in "\n" alone.
bool MostlyCrLf(std::string_view text);

}  // namespace stet::tool
