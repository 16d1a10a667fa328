#include "log/scan.h"

#include <algorithm>
#include <cstring>

#include "base/fs.h"

namespace stet::log {

LineScanner::LineScanner(int fd, std::uint64_t from, std::uint64_t end)
    : fd_(fd), end_(end), first_(from), offset_(from) {
  buffer_.resize(kFirstBytes);
}

// Moves what is left to the front, makes room, and reads on.
Status LineScanner::Fill() {
  const std::size_t rest = filled_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, rest);
  searched_ -= begin_;
  begin_ = 0;
  filled_ = rest;
  const bool grows = offset_ + rest > first_ && buffer_.size() < kBufferBytes;
  if (grows || filled_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const std::uint64_t position = offset_ + filled_;
  const std::size_t room =
      std::min<std::uint64_t>(buffer_.size() - filled_, end_ > position ? end_ - position : 0);
  ASSIGN_OR_RETURN(const std::size_t got,
                   Pread(fd_, std::span(buffer_.data() + filled_, room), position));
  filled_ += got;
  at_end_ = got < buffer_.size() - (filled_ - got);
  return {};
}

Result<bool> LineScanner::Next(ScannedLine* line) {
  while (true) {
    const char* start = buffer_.data() + begin_;
    const auto* lf = static_cast<const char*>(
        std::memchr(buffer_.data() + searched_, '\n', filled_ - searched_));
    if (lf != nullptr || (at_end_ && begin_ < filled_)) {
      const std::size_t length =
          lf != nullptr ? static_cast<std::size_t>(lf - start) : filled_ - begin_;
      *line = {offset_, {start, length}, lf != nullptr};
      const std::size_t taken = length + (lf != nullptr ? 1 : 0);
      begin_ += taken;
      offset_ += taken;
      searched_ = begin_;
      return true;
    }
    if (at_end_) return false;
    searched_ = filled_;
    RETURN_IF_ERROR(Fill());
  }
}

}  // namespace stet::log
