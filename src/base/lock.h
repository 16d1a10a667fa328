// FileLock: one holder of a file across processes and within this one; the file names the holder.
//
// An open-file-description write lock: it ends with its FileLock or with the process, however that
// dies, and never outlives an exec. While it is held the file has "pid start_ticks version\n", read
// by a process that is refused the lock; it is empty again after an orderly release. No process may
// remove or replace a lock file; it stays for the next holder. A FileLock belongs to one thread at
// a time; Acquire and Holder are safe from any. A file system without locks fails as kUnsupported.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace stet {

struct LockHolder {
  std::int64_t pid = 0;  // 0: the holder has not said, or is not visible from here.
  std::string version;

  friend bool operator==(const LockHolder&, const LockHolder&) = default;
};

class FileLock {
 public:
  /// How long a refused caller waits for a holder that is just writing its name.
  static constexpr std::chrono::milliseconds kNameWait{50};

  /// How long it waits for what a killed holder left behind: a child that has not reached its exec
  /// yet keeps the lock until then.
  static constexpr std::chrono::milliseconds kRemnantWait{2000};

  /// Does not wait for a holder that lives: kBusy, naming the holder, when the lock is taken. The
  /// file is made (0600) if missing.
  static Result<FileLock> Acquire(const std::string& path);

  /// The process that holds the lock now; nothing when the lock is free or there is no such file.
  static std::optional<LockHolder> Holder(const std::string& path);

  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock() { Release(); }

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  void Release();

  Fd fd_;
};

}  // namespace stet
