// The events of work: turns, model calls, tools, permissions, queues, files, tasks and what clients
// change.
#pragma once

#include <cstdint>

#include "protocol/content.h"
#include "protocol/place.h"

namespace stet::protocol {

/// Phases of turns, model calls and tasks, and of permissions and questions, as the log names them.
namespace phase {
inline constexpr std::string_view kStart = "start";
inline constexpr std::string_view kEnd = "end";
inline constexpr std::string_view kLost = "lost";  // The process that ran the task died.
inline constexpr std::string_view kAsked = "asked";
inline constexpr std::string_view kAnswered = "answered";
inline constexpr std::string_view kWithdrawn = "withdrawn";
}  // namespace phase

/// The turn's id is the event's own turnId.
struct Turn {
  static constexpr std::string_view kType = "turn";
  static constexpr Place kPlace = Place::kControl;
  STET_FIELDS(Turn,
              (Text, phase),
              (OptionalText, reason),
              (OptionalInt, steps),
              (OptionalUsage, usage))
  [[nodiscard]] Flush FlushGrade() const {
    return phase == phase::kEnd ? Flush::kSync : Flush::kLazy;
  }
};

struct Prefix {
  STET_FIELDS(Prefix,
              (std::int64_t, equal_bytes),  // Of the request before, in the order of the prompt.
              (OptionalText, cause),  // Why the request before is not a prefix of this one.
              (OptionalInt, cost),  // Micro-units: what the break is estimated to cost.
              (OptionalInt, cached))  // Tokens that the server is expected to read from its cache.
};
using OptionalPrefix = std::optional<Prefix>;

struct Attempt {
  STET_FIELDS(Attempt,
              (Text, outcome),  // done, cancelled, or the kind of the failure.
              (OptionalText, model),  // When it is not the call's own: a fallback.
              (OptionalUsage, usage),  // Absent: unknown.
              (OptionalBool, partial))  // The usage is what was reported until it broke off.
};
using OptionalAttempts = std::optional<std::vector<Attempt>>;

struct ModelCall {
  static constexpr std::string_view kType = "model_call";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(ModelCall,
              (Text, call_id),
              (Text, phase),  // start, end
              (OptionalText, purpose),
              (OptionalText, dialect),
              (OptionalText, model),
              (OptionalText, request_hash),
              (OptionalInt, bytes),  // Of the request.
              (OptionalText, toolset),  // A blob.
              (OptionalRaw, params),
              (OptionalPrefix, prefix),
              (OptionalAttempts, attempts),
              (OptionalInt, price))  // Micro-units.
};

/// What the session's model sees of tools from here on.
using OptionalTexts = std::optional<Texts>;

struct Toolset {
  static constexpr std::string_view kType = "toolset";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Toolset,
              (Text, blob),
              (Text, cause),  // Why there is a new one: see toolset_cause.
              (OptionalInt, window),  // Tokens: of the model that it was made for.
              (OptionalTexts, only))  // What the user's option `--tools` said; absent: nothing.
};

/// Causes of a toolset, as the log names them.
namespace toolset_cause {
inline constexpr std::string_view kFirst = "first";
inline constexpr std::string_view kOption = "option";
inline constexpr std::string_view kWindow = "window";
inline constexpr std::string_view kCompaction = "compaction";
inline constexpr std::string_view kDamage = "damage";  // The one before cannot be read.
}  // namespace toolset_cause

struct Decision {
  STET_FIELDS(Decision, (OptionalText, rule), (OptionalText, by))
};

struct ToolStarted {
  static constexpr std::string_view kType = "tool_started";
  static constexpr Place kPlace = Place::kControl;
  STET_FIELDS(ToolStarted,
              (Text, tool_call_id),
              (Text, tool),
              (Text, args_hash),
              (bool, effects),
              (OptionalRaw, args),  // When they are not the call's own.
              (OptionalRaw, sandbox),
              (Decision, decision))
  [[nodiscard]] Flush FlushGrade() const { return effects ? Flush::kAlways : Flush::kLazy; }
};

struct Permission {
  static constexpr std::string_view kType = "permission";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Permission,
              (Text, request_id),
              (Text, tool_call_id),
              (Text, args_hash),
              (Text, phase),  // asked, answered, withdrawn
              (OptionalRaw, options),
              (OptionalText, answer),
              (OptionalRaw, args),  // As the approver edited them.
              (OptionalText, rule),
              (OptionalText, scope),
              (OptionalText, by),
              (OptionalText, mac))  // Of an answer: by the key of the device that took it.
};

struct Question {
  static constexpr std::string_view kType = "question";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Question,
              (Text, question_id),
              (Text, phase),  // asked, answered, withdrawn
              (OptionalText, text),
              (OptionalRaw, options),
              (OptionalBool, blocking),
              (OptionalRaw, answer),
              (OptionalText, by))  // The client that answered.
};

struct QueueItem {
  STET_FIELDS(QueueItem,
              (Text, item_id),
              (OptionalText, client_message_id),
              (Text, client_id),
              (Blocks, content))
};
using QueueItems = std::vector<QueueItem>;

struct QueueUpdate {
  static constexpr std::string_view kType = "queue_update";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(QueueUpdate,
              (Text, queue),
              (QueueItems, items))  // follow_up or steer; the full result.
};

struct ContentReplacement {
  static constexpr std::string_view kType = "content_replacement";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(ContentReplacement,
              (OptionalText, by),
              (OptionalText, blob),
              (Texts, event_ids),
              (OptionalText, preview))
};

struct Snip {
  static constexpr std::string_view kType = "snip";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Snip, (Text, from), (Text, through), (OptionalBool, undo), (OptionalText, by))
};

/// What was done to a file, or by a command to a link or a folder. `before` and `after` say what is
/// there: a content's SHA-256, "git:" with the id of git's object, "link:" with the hash of where
/// it leads, "folder"; absent: nothing, or it is not known.
struct FileFact {
  static constexpr std::string_view kType = "file_fact";
  STET_FIELDS(FileFact,
              (Text, op),  // read, write, delete, outside_write, folder
              (Text, path),
              (OptionalText, before),
              (OptionalText, after),
              (OptionalRaw, coverage),
              (OptionalText, before_blob),
              (OptionalInt, new_folders),  // Above a new file: how many were made for it.
              (OptionalBool, unsure),  // Seen while a task ran: something else may have done it.
              (OptionalText, tool_call_id))
  static Place PlaceOf(std::string_view op) {
    return op == "read" ? Place::kControl : Place::kSession;
  }
  [[nodiscard]] Flush FlushGrade() const { return op == "read" ? Flush::kLazy : Flush::kAlways; }
};

/// What the project's files were, before something could change them.
struct Checkpoint {
  static constexpr std::string_view kType = "checkpoint";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kLazy;  // What it is before flushes.
  STET_FIELDS(Checkpoint,
              (Text, manifest),  // Its name among the session's copies (doc/format/checkpoint.md).
              (Text, reason),  // command, restore
              (OptionalText, tool_call_id),
              (std::int64_t, files),  // That it has: files, links and folders.
              (OptionalInt, not_covered),  // Files of these whose content is not kept.
              (OptionalBool, more))          // There are more than are looked at.
};

struct Task {
  static constexpr std::string_view kType = "task";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Task,
              (Text, task_id),
              (Text, kind),  // shell, agent, workflow, monitor
              (Text, phase),  // start, moved, end, lost, detached
              (OptionalText, by),  // model, person, workflow: who started it, or had it end
              (OptionalText, name),  // A shell's: its command.
              (OptionalText, session_id),
              (OptionalText, tool_call_id),
              (OptionalInt, pid),
              (OptionalText, started_turn_id),
              (OptionalText, ended_turn_id),
              (OptionalText, status),  // completed, failed, killed, timed_out
              (OptionalInt, exit),
              (OptionalInt, signal),
              (OptionalText, tail),  // The blob with the end of its output.
              (OptionalText, output),  // The blob with all that was kept of it.
              (OptionalRaw, result))

  /// Whether it is over with the task, or with one of its turns.
  [[nodiscard]] bool ends() const { return phase == phase::kEnd || phase == phase::kLost; }
};

/// Something that the model must be told as soon as a message may stand: an item, or for origin
/// extension a custom message, pays it by its id.
struct Owed {
  static constexpr std::string_view kType = "owed";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Owed,
              (Text, owed_id),
              (Text, origin),  // user, system, hook, extension
              (Text, kind),  // Of the item or the custom message.
              (OptionalText, by),  // Which hook or extension.
              (Text, text),
              (OptionalRaw, data))
};

struct InfoChanges {
  STET_FIELDS(InfoChanges,
              (OptionalText, title),
              (OptionalText, model),
              (OptionalText, effort),
              (OptionalText, mode),
              (OptionalText, disallowed),  // Rules that deny, as an opening gave them.
              (OptionalTexts, tags),
              (OptionalText, cwd))
};

struct SessionInfo {
  static constexpr std::string_view kType = "session_info";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(SessionInfo, (InfoChanges, changes))
};

struct SkillIndex {
  static constexpr std::string_view kType = "skill_index";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(SkillIndex, (OptionalRaw, snapshot), (OptionalRaw, delta))
};

struct ChannelInject {
  static constexpr std::string_view kType = "channel_inject";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(ChannelInject, (Text, channel), (Text, external_id), (OptionalRaw, metadata))
};

struct Custom {
  static constexpr std::string_view kType = "custom";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Custom, (Text, kind), (Raw, data))
};

}  // namespace stet::protocol
