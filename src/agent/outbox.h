// Outbox: what the model must still be told where the leaf is. A projection of the log: what is
// owed, and what has been paid, stands there.
//
// Two kinds of things are owed. The end of a task (`task` with phase end or lost) is owed on every
// path that has the call which started it and no item that carries the end: after a rewind to
// behind the call it is owed again. Everything else is an `owed` event, and is paid once per log;
// so is the end of a task that no call started. What pays stands later in the file than what is
// owed.
//
// It costs what is new in the log; after a move of the leaf, what the path is long. Belongs to the
// session's lane. Fails only as reading or writing the log does; then the next call begins anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/log.h"

namespace stet::agent {

struct Workbench;

class Outbox {
 public:
  /// Of `owed` events that wait; the next one is refused, and people are told so.
  static constexpr std::size_t kMaxWaiting = 100;
  /// Of one text; the rest is cut off, and the text says so.
  static constexpr std::size_t kMaxTextBytes = 32'768;

  /// Brings it up to the log's leaf.
  Status Update(const log::Log& log);

  // All below is as of the last Update.

  /// The events that are owed here, in the order of the file.
  [[nodiscard]] std::vector<log::Ordinal> due() const;
  [[nodiscard]] bool empty() const { return due_.empty(); }
  /// How many `owed` events wait.
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] bool owes_end() const;  // Of a task.
  /// Whether an end of this task would be owed here.
  [[nodiscard]] bool Concerns(const std::string& task_id) const;

 private:
  struct Started {
    log::Ordinal called_at = log::kNone;  // The message with the call; none: no call started it.
    bool on_path = true;
  };
  struct End {
    std::string task_id;
    log::Ordinal event = log::kNone;
    std::uint64_t key = 0;  // log::Key::TextHash of what pays it.
  };
  struct Due {
    log::Ordinal event = log::kNone;
    std::uint64_t key = 0;
    bool is_task = false;
  };

  Result<bool> Extend(const log::Log& log);
  Status TakeTask(const log::Log& log, log::Ordinal event);
  void TakeKeys(const log::Log& log);
  void Rebuild(const log::Log& log);

  std::map<std::string, Started, std::less<>> started_;  // By task.
  std::vector<End> ends_;                                // All of the log.
  std::vector<Due> due_;
  log::Ordinal next_ = 0;     // The first event that was not looked at.
  std::size_t next_key_ = 0;  // The first of the index's keys that was not.
  log::Ordinal leaf_ = log::kNone;
};

/// Something to be told to the model.
struct NewOwed {
  std::string_view origin;  // user, system, hook or extension
  std::string kind;         // An item's (items.h), or of an extension's message.
  std::string text;
  std::optional<std::string> by = {};  // Which hook or extension.
  std::optional<Raw> data = {};        // Of an extension's message.
};

/// The event that owes it, for the caller's batch. Nothing when it says nothing, when the same
/// words wait already (as when a session is opened twice), and when too many wait: then people have
/// been told. Fails as Outbox::Update does.
Result<std::optional<protocol::Payload>> OwedEvent(Workbench& bench, NewOwed owed);

/// Appends that event: from then on it cannot be lost.
Status Owe(Workbench& bench, NewOwed owed, const protocol::Stamp& stamp);

/// Tells the model all that is owed where the leaf is, in one batch. Only where a message may
/// stand, and not while a model is being asked.
Status PayOwed(Workbench& bench, const protocol::Stamp& stamp);

/// Whether the model should be asked again for what is owed here: the end of a task, or a notice of
/// the user's or of ours. What hooks and extensions add waits for the next step that there is.
Result<bool> OwesNotice(Workbench& bench);

/// Appends the end of a task. With `tells`, which is for where PayOwed may be called, and when it
/// is owed here, the item that tells of it is in the same batch.
Status AppendTaskEnd(Workbench& bench, const protocol::Task& end, bool tells,
                     const protocol::Stamp& stamp);

/// What the model, and hooks, are told of the end of a task.
std::string TaskNotice(const protocol::Task& end, const log::Blobs& blobs);
/// The task and how it ended, with the end of its output: "shell-1 has ended (exit code 0). ...".
std::string TaskEnding(const protocol::Task& end, const log::Blobs& blobs);

}  // namespace stet::agent
