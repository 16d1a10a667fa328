// Commit: makes written bytes survive a power cut, with as few flushes as possible.
//
// Callers that arrive while a flush is under way share the next one: the first of them flushes for
// all that wrote before it began. A flush that fails is never tried again and called good: from
// then on every call fails with kIo and the log is read-only. SyncSoon leaves the flush to one
// background thread of the process, at most kSoon later. Safe from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace stet::log {

class Commit : public std::enable_shared_from_this<Commit> {
 public:
  static constexpr std::chrono::milliseconds kSoon{1000};

  /// `before` runs ahead of every flush (blobs go first) and lives as long as this.
  Commit(Fd fd, std::function<Status()> before) : fd_(std::move(fd)), before_(std::move(before)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// The file is written up to `end`.
  void Wrote(std::uint64_t end);
  /// Returns when everything up to `end` is flushed.
  Status SyncTo(std::uint64_t end);
  /// Everything written by now is flushed at most kSoon from now.
  void SyncSoon();

  [[nodiscard]] std::uint64_t flushed() const;
  [[nodiscard]] std::uint64_t flush_count() const;
  /// The failure that made the log read-only, if any.
  [[nodiscard]] std::optional<Error> failure() const;
  void Fail(Error error);

 private:
  Status FlushOnce();

  Fd fd_;
  std::function<Status()> before_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::uint64_t written_ = 0;
  std::uint64_t flushed_ = 0;
  std::uint64_t flushes_ = 0;
  bool flushing_ = false;
  bool soon_ = false;  // The background thread knows of us.
  std::optional<Error> failure_;
};

}  // namespace stet::log
