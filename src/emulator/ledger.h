// Ledger: what the emulator was asked and what became of it.
//
// Safe from any thread. A request stands in it from the moment it was read; when it has ended, a
// line goes to the record file, if there is one. Requests() never misses a reply that its client
// has seen the end of: an exchange that is about to send its last byte is awaited for a moment.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "emulator/script.h"
#include "json/describe.h"

namespace stet::emulator {

/// The ledger forgets the oldest requests beyond these.
inline constexpr std::size_t kMaxRecords = 10'000;
inline constexpr std::size_t kMaxRecordedBytes = std::size_t{256} << 20;

struct SchemaProblem {
  // clang-format off
  STET_FIELDS(SchemaProblem,
    (std::string, path),
    (std::string, message))
  // clang-format on
};
using SchemaProblems = std::vector<SchemaProblem>;

struct RequestRecord {
  // clang-format off
  STET_FIELDS(RequestRecord,
    (std::int64_t, n),
    (std::string, dialect),
    (std::string, path),
    (Raw, headers),
    (Raw, body),
    (std::int64_t, received_ms),
    (std::optional<std::int64_t>, first_byte_ms),
    (std::optional<std::int64_t>, end_ms),
    (std::int64_t, received_us),
    (std::optional<std::int64_t>, end_us),
    (std::int64_t, bytes_sent),
    (std::string, outcome),
    (std::optional<std::int64_t>, reply),
    (std::optional<Usage>, usage),
    (std::optional<SchemaProblems>, schema_errors))
  // clang-format on
};

struct Stats {
  // clang-format off
  STET_FIELDS(Stats,
    (std::int64_t, requests),
    (std::int64_t, active),
    (std::int64_t, max_active))
  // clang-format on
};

class Ledger {
 public:
  struct Entry {
    RequestRecord record;
    bool finishing = false;
  };
  using Handle = std::shared_ptr<Entry>;

  /// `path` is emptied first; "" for no file.
  static Result<std::unique_ptr<Ledger>> Open(const std::string& path);

  /// Numbers the request; it is active from now on.
  Handle Begin(RequestRecord record);
  /// The number that Begin gave.
  static std::int64_t NumberOf(const Handle& entry) { return entry->record.n; }

  template <class Change>
  void Note(const Handle& entry, Change change) {
    const std::lock_guard lock(mutex_);
    change(entry->record);
  }
  /// The last byte is about to go out: End follows soon. The request is no longer active, so that a
  /// client that has seen the end finds it so.
  void Finishing(const Handle& entry);
  void End(const Handle& entry);

  /// In the order of their numbers.
  std::vector<RequestRecord> Requests();
  Stats stats();
  /// Forgets all requests; numbers start anew. Those under way still count as active.
  void Clear();

 private:
  explicit Ledger(Fd file) : file_(std::move(file)) {}

  std::mutex mutex_;
  std::condition_variable finished_;
  Fd file_;
  std::deque<Handle> entries_;
  std::size_t bytes_ = 0;  // Of the bodies in entries_.
  int finishing_ = 0;
  Stats stats_;
};

}  // namespace stet::emulator
