// What a Log is made of. Private to src/log/log*.cc: opening, writing and reading share it.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/lock.h"
#include "log/commit.h"
#include "log/index_file.h"
#include "log/log.h"
#include "log/publisher.h"

namespace stet::log {

struct Log::Impl {
  Paths paths;
  Options options;
  std::optional<FileLock> lock;
  std::shared_ptr<Commit> commit;  // Owns the file.
  std::shared_ptr<Blobs> blobs;
  protocol::Header header;
  std::uint64_t first_line_hash = 0;
  std::optional<IndexFile> index_file;
  Publisher publisher;
  mutable std::atomic<bool> met_damage = false;

  std::mutex mutex;  // Guards what follows while the log is open for writing.
  Index index;
  Placing placing;
  std::uint64_t next_seq = 1;
  std::uint64_t end = 0;  // The file's good bytes.
  bool closed = false;
  std::string buffer;

  [[nodiscard]] Clock& clock() const {
    return options.clock != nullptr ? *options.clock : SystemClock();
  }
  [[nodiscard]] Random& random() const {
    return options.random != nullptr ? *options.random : ProcessRandom();
  }

  void Adopt(Fd fd) {
    blobs = std::make_shared<Blobs>(paths.blobs());
    commit = std::make_shared<Commit>(std::move(fd), [blobs = blobs] { return blobs->Sync(); });
  }

  Status CheckWritable() {
    if (options.mode == Mode::kRead || closed)
      return Fail(Code::kDenied, "the log is not open for writing");
    if (std::optional<Error> failure = commit->failure())
      return std::unexpected(*std::move(failure));
    return {};
  }

  /// An event that the index has as good is damaged. A writer drops the index: what opens the log
  /// next finds it by a scan.
  void MeetDamage() const;
  /// The event's line, checked.
  [[nodiscard]] Result<std::string> LineAt(Ordinal event) const;
  [[nodiscard]] Result<protocol::Event> EventAt(Ordinal event) const;
  /// The calls that wait for a result at `leaf`.
  [[nodiscard]] Result<std::vector<OpenCall>> OpenCallsAt(Ordinal leaf) const;

  /// A batch on its way into the file; its lines stand in `buffer`.
  struct Batch {
    std::vector<protocol::Event> events;
    std::vector<std::size_t> ends;  // Of each line in `buffer`.
    Placing placing;                // After the batch.
    bool wants_flush = false;
    bool must_flush = false;  // Before subscribers hear of it.
  };

  Status CheckDraft(const protocol::Payload& payload) const;
  Status CheckPaid(const protocol::OptionalCarries& carries) const;
  Status Encode(std::vector<Draft>& drafts, Batch& batch);
  Appended Fold(Batch& batch, std::uint64_t batch_start);
  void Stamp(Draft& draft, protocol::Event& event);
  Result<Appended> AppendLocked(std::vector<Draft>& drafts, bool* must_flush);
  Status WriteBuffer();
  /// Waits for the flush, if one is due, and publishes.
  Status Settle(bool must_flush, std::uint64_t batch_end);
  /// One event by the log's own hand; the caller flushes.
  Result<Appended> AppendOwn(protocol::Payload payload);
  Status CheckLeaf(const std::optional<std::string>& expected);
  /// Appends a rewind or branch, which the fold follows, and gives the lock up for the flush.
  Result<Appended> MoveLeaf(protocol::Payload move, std::optional<std::string> leaf_id,
                            std::unique_lock<std::mutex> held);
  /// Writes the index file on when it lags by a group, or by anything at all.
  void KeepIndex(bool all = false);
  /// `header_lost`: `header` was rebuilt just now and must be recorded.
  Status RecordOpening(bool header_lost);
};

}  // namespace stet::log
