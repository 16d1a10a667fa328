// LineScanner: reads a log from an offset to its end, line by line, in pieces that fit the
// processor's caches.
//
// It knows nothing of events: a line is what ends with LF, and at the end of the file what is left.
// It holds one buffer that grows to the longest line met. Owned by one thread; fails only as
// reading a file does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::log {

struct ScannedLine {
  std::uint64_t offset = 0;
  std::string_view text;    // Without its LF; valid until the next call.
  bool terminated = false;  // False for the bytes behind the last LF.
};

class LineScanner {
 public:
  static constexpr std::size_t kFirstBytes = std::size_t{4} << 10;  // Most sessions are small.
  static constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

  /// `fd` must outlive the scanner; its file offset is not used. Bytes at and behind `end` are not
  /// read.
  LineScanner(int fd, std::uint64_t from, std::uint64_t end = UINT64_MAX);

  /// False at the end of the file.
  Result<bool> Next(ScannedLine* line);

 private:
  Status Fill();

  int fd_;
  std::uint64_t end_;
  std::uint64_t first_;
  std::uint64_t offset_;  // Of buffer_[begin_] in the file.
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
  std::size_t searched_ = 0;  // No LF between begin_ and here.
  bool at_end_ = false;
};

}  // namespace stet::log
