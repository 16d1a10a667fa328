// Log: the event log of one session, the truth that everything else is a projection of.
//
// Append, then publish, then act: Append returns once the batch is written (it survives the death
// of the process) and, for events whose type asks for it, flushed (it survives a power cut); only
// then are they published to subscribers, in the order of seq. One write per batch: a batch is in
// the log whole or not at all, but for a crash, which may keep a prefix.
//
// One writer per session across processes: a log open for writing holds the lock beside it; a
// second one is refused with the holder's pid. Readers need no lock, append nothing, and ignore a
// torn last line.
//
// Failure: no room (kFull) leaves the log as it was, and the next append tries again; a failed
// flush or an I/O error makes it read-only (kIo), never flushed again and called good. Damage never
// prevents opening: see recover.h. An index hides what was damaged after it was made: such an event
// is found out when it is read (kCorrupt, met_damage()), a writer drops the index then, and the
// next opening scans and sets it aside.
//
// Threads: Append, Publish, Subscribe and Close may be called from any thread. What reads the index
// (index(), EventAt, ...) must not overlap with an append: it belongs to the session's lane.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "log/blobs.h"
#include "log/index.h"
#include "log/paths.h"
#include "log/placing.h"
#include "protocol/event.h"
#include "protocol/header.h"
#include "protocol/transient.h"

namespace stet::log {

enum class Mode { kRead, kWrite };
enum class Durability {
  kStrict,   // Flush where the type says so.
  kRelaxed,  // At most Commit::kSoon later, except where the type says always.
};

struct Options {
  Mode mode = Mode::kRead;
  Durability durability = Durability::kStrict;
  bool use_index = true;  // False: fold the whole log again.
  std::string device_id;  // The device that writes, for `opened`.
  std::string client_id = "host";
  Clock* clock = nullptr;    // The system's when null.
  Random* random = nullptr;  // The process's when null.
};

/// An event to be: its payload, and as much of the rest as the caller knows.
struct Draft {
  protocol::Payload payload;
  std::string id;         // Minted when empty.
  protocol::Stamp stamp;  // ts and clientId are filled in when empty.
};

struct Appended {
  std::vector<std::string> ids;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
};

/// What a subscriber sees: an event with its stored line, or a transient.
struct Published {
  std::uint64_t seq = 0;
  const protocol::Event* event = nullptr;
  std::string_view line;  // The event's, without LF.
  const protocol::Transient* transient = nullptr;
};
/// Called one at a time, in the order of seq, on a thread that appends. Must not block and must not
/// call the log.
using Subscriber = std::function<void(const Published&)>;

/// Ends a subscription when destroyed.
class Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::shared_ptr<void> token) : token_(std::move(token)) {}

 private:
  std::shared_ptr<void> token_;
};

class Log {
 public:
  /// Makes the folder and writes the header and the first `opened`, both flushed. kConflict when
  /// there is a log already.
  /// What a creation left that died before its log was there (IsUnborn) is used.
  static Result<std::unique_ptr<Log>> Create(const std::string& dir, protocol::Header header,
                                             Options options);
  static Result<std::unique_ptr<Log>> Open(const std::string& dir, Options options);
  /// Closes and drops a failure; call Close to hear of it.
  ~Log();

  /// All or nothing. Rewind, branch, opened and gap have their own ways in.
  Result<Appended> Append(std::vector<Draft> batch);

  /// Moves the leaf to a rest point (nothing: before the first event); an id inside a step means
  /// that step's last event. kConflict when the leaf is not `expected_leaf`.
  Result<Appended> Rewind(const std::optional<std::string>& target,
                          const std::optional<std::string>& expected_leaf);
  /// Moves the leaf to another leaf.
  Result<Appended> Branch(const std::string& leaf, const std::optional<std::string>& expected_leaf);

  /// Broadcasts a transient under the next seq, storing nothing. Returns its seq.
  std::uint64_t Publish(protocol::TransientPayload transient);
  /// Everything published from now on. What came before is Read up to last_seq().
  Subscription Subscribe(Subscriber subscriber);

  /// Calls `visit` for each stored event with seq >= from, in file order, until it answers false.
  /// Damaged lines are passed over, and met. The line is without its LF.
  Status Read(std::uint64_t from,
              const std::function<bool(const Entry&, std::string_view line)>& visit) const;

  [[nodiscard]] Result<std::string> LineAt(Ordinal event) const;
  [[nodiscard]] Result<protocol::Event> EventAt(Ordinal event) const;
  /// kNotFound when there is no such event.
  [[nodiscard]] Result<Ordinal> Find(std::string_view id) const;
  [[nodiscard]] Result<std::string> IdOf(Ordinal event) const;

  /// Flushes what is written, keeps the index and the summary, and gives the lock up. The log is of
  /// no use afterwards.
  Status Close();

  [[nodiscard]] const Index& index() const;
  [[nodiscard]] const protocol::Header& header() const;
  [[nodiscard]] const Paths& paths() const;
  [[nodiscard]] Blobs& blobs();
  [[nodiscard]] std::int64_t epoch() const;
  [[nodiscard]] std::uint64_t last_seq() const;
  [[nodiscard]] const std::optional<std::string>& leaf_id() const;
  [[nodiscard]] const std::vector<OpenCall>& open_calls() const;
  [[nodiscard]] std::uint64_t flush_count() const;
  /// Whether an event could not be read that the index has as good: until the log is opened again
  /// (a reader: without the index), reading that event fails.
  [[nodiscard]] bool met_damage() const;

 private:
  struct Impl;
  explicit Log(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// Does `work` with the log, open for reading; where that fails because the index hides damage
/// (kCorrupt), once more with a log that was scanned.
Status ReadLog(const std::string& dir, const std::function<Status(Log&)>& work);

}  // namespace stet::log
