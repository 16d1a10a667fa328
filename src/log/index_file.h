// IndexFile: keeps an Index on disk beside its log, so that opening reads 1% of the log and scans
// only what came after.
//
// The file grows with the log, group by group: new entries and keys, all damages, and a checkpoint
// {state version, seq, leaf, crc of the event at that seq, bytes folded, session state}, under one
// crc. Whatever does not fit the log (another log, a shorter one, another crc, another layout, a
// torn group) is not used: the log is folded again from where the index still holds, at worst from
// its start. Never flushed and never trusted; losing it costs time only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "log/index.h"

namespace stet::log {

class IndexFile {
 public:
  /// How much of a file is good: less than the index that was then folded on from it.
  struct Kept {
    std::uint64_t bytes = 0;
    std::size_t entries = 0;
    std::size_t keys = 0;
  };

  /// What the file at `path` knows of the log in `log_fd`, whose first line hashes to
  /// `first_line_hash`. Nothing when it cannot be used. `kept`, if given, gets how much of the
  /// file is good.
  static std::optional<Index> Load(const std::string& path, int log_fd, std::uint64_t log_bytes,
                                   std::uint64_t first_line_hash, Kept* kept = nullptr);

  /// For the lock holder: goes on behind what was kept; begins anew when that is nothing.
  static Result<IndexFile> Open(const std::string& path, std::uint64_t first_line_hash,
                                const Kept& kept);

  /// Writes what `index` has gained since, and its checkpoint.
  Status Append(const Index& index, int log_fd);

  /// How many events the file lags behind.
  [[nodiscard]] std::size_t Behind(const Index& index) const {
    return index.entries().size() - entries_;
  }

 private:
  explicit IndexFile(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
  std::uint64_t bytes_ = 0;
  std::size_t entries_ = 0;
  std::size_t keys_ = 0;
};

}  // namespace stet::log
