// What a scene is made of: the things that a face shows one below the other, and the state that
// stands beside them. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/ask.h"
#include "protocol/tasks.h"

namespace stet::client {

/// What a client sent, as the session took it.
struct PromptItem {
  protocol::Blocks blocks;
  std::string client_id;
  protocol::OptionalText client_message_id;
  protocol::OptionalText queue_item_id;
  friend bool operator==(const PromptItem&, const PromptItem&) = default;
};

/// One block of a reply: text that the model says, or its thinking. It grows while it is streamed.
struct ReplyItem {
  enum class Kind { kText, kThinking };
  Kind kind = Kind::kText;
  std::string text;
  bool kept = false;  // Its message is in the log: the text is whole.
  friend bool operator==(const ReplyItem&, const ReplyItem&) = default;
};

/// A file that a call wrote.
struct WrittenFile {
  std::string path;
  protocol::OptionalText before_blob;  // What the file was; absent: not kept, or a new file.
  friend bool operator==(const WrittenFile&, const WrittenFile&) = default;
};

/// A call of a tool, from its first letter to its result.
struct CallItem {
  enum class State {
    kWriting,   // The model is still writing it.
    kWaiting,   // Its message is in the log; it has not started.
    kRunning,   // It has started.
    kAnswered,  // Its result is in the log; it started, and its end was not told yet.
    kEnded,     // Nothing more will come of it.
  };
  std::string tool_call_id;
  std::string tool;
  Raw args{"{}"};
  State state = State::kWriting;
  std::string output;    // The end of what it wrote while it runs; at most kMaxOutput bytes.
  std::string terminal;  // The client's terminal that it runs in; empty: none.
  std::vector<WrittenFile> files;
  bool is_error = false;
  std::optional<Raw> result;       // Its content; absent: none yet, or none will come.
  protocol::OptionalInt began_at;  // Unix milliseconds; absent: it has not, or it is not known.
  protocol::OptionalInt duration_ms;

  static constexpr std::size_t kMaxOutput = 4096;
  friend bool operator==(const CallItem&, const CallItem&) = default;
};

/// A line between what is said: who says it stands in its kind.
struct NoteItem {
  enum class Kind {
    kHarness,   // What the harness told the model, and people may see.
    kNotice,    // Of a hook or an extension, which `by` names.
    kWait,      // Something is waited for: `by` is who, `until` until when.
    kCutShort,  // The reply before ends where it was cut.
    kAgain,     // The reply before broke off, and is asked for again.
    kTaskEnd,   // A task ended in the background: `by` is its id, `text` how it ended.
  };
  Kind kind = Kind::kHarness;
  std::string by;
  std::string text;
  protocol::OptionalInt until;  // Unix milliseconds.
  friend bool operator==(const NoteItem&, const NoteItem&) = default;
};

/// Where the session took a turn in its own history: the conversation goes on from another place,
/// or in another way.
struct MarkerItem {
  enum class Kind { kRewind, kBranch, kCompact, kModel, kMode, kEffort };
  Kind kind = Kind::kRewind;
  std::string value;  // The event that is the leaf now (empty: none), the summary, or the setting.
  std::int64_t tokens_before = 0;  // Of a compaction, about.
  std::int64_t tokens_after = 0;
  friend bool operator==(const MarkerItem&, const MarkerItem&) = default;
};

/// How a turn ended, and what it came to.
struct TurnItem {
  std::string turn_id;
  std::string reason;
  std::string error;                  // Empty: none.
  protocol::OptionalInt duration_ms;  // Absent: its beginning is not known.
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  std::int64_t price = 0;  // Micro-units.
  bool whole = false;      // The sums are of all of it; else of what was heard.
  friend bool operator==(const TurnItem&, const TurnItem&) = default;
};

struct SceneItem {
  std::uint64_t number = 0;  // Grows with every item; no number is used twice.
  std::string event_id;      // Of the event that it is, or will be; empty: it is never stored.
  std::int64_t at = 0;       // Unix milliseconds.
  std::variant<PromptItem, ReplyItem, CallItem, NoteItem, MarkerItem, TurnItem> what;
  friend bool operator==(const SceneItem&, const SceneItem&) = default;
};

/// What the turn that runs does now.
struct Activity {
  enum class Kind { kModel, kAnswering, kThinking, kWritingCall, kTool, kWait };
  Kind kind = Kind::kModel;     // kModel: the model is waited for.
  std::string who;              // The tool, or who is waited for.
  std::string detail;           // The tool's arguments, or what is waited for.
  protocol::OptionalInt until;  // Of a wait: Unix milliseconds.
  std::int64_t since = 0;       // Of a tool: Unix milliseconds; 0: not known.
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// The turn that runs; else the one that was heard of last.
struct SceneTurn {
  bool running = false;
  bool whole = false;  // It was heard of from its beginning on.
  std::string turn_id;
  Activity activity;
  std::int64_t began_at = 0;   // Unix milliseconds; 0: not known.
  std::int64_t heard_at = 0;   // The last that was heard of it.
  std::int64_t tokens_in = 0;  // Of the model calls that have ended.
  std::int64_t tokens_out = 0;
  std::int64_t price = 0;          // Micro-units.
  std::size_t streamed_bytes = 0;  // Of the step under way.
  friend bool operator==(const SceneTurn&, const SceneTurn&) = default;
};

/// Which session it is, as the host said last.
struct SceneSession {
  std::string session_id;
  std::string project;
  std::string cwd;
  protocol::Texts commands;  // Of extensions: /NAME.
  friend bool operator==(const SceneSession&, const SceneSession&) = default;
};

struct SceneSettings {
  std::string title;
  std::string model;
  std::string mode;
  std::string effort;
  friend bool operator==(const SceneSettings&, const SceneSettings&) = default;
};

/// One thing that is another now. A face that applies all changes in order shows the scene.
struct SceneChange {
  enum class What {
    kAdded,     // The item is new, below all others.
    kGrown,     // The item's text goes on at `from`.
    kChanged,   // The item is another in what is not its text.
    kReplaced,  // The item's text is another from its beginning.
    kDropped,   // The item is gone: what was shown of it never happened.
    kTurn,      // Of the state beside the items.
    kAsks,
    kQueue,
    kTasks,
    kSettings,
    kUsage,
  };
  What what = What::kAdded;
  std::uint64_t item = 0;
  std::size_t from = 0;
  friend bool operator==(const SceneChange&, const SceneChange&) = default;
};
using SceneChanges = std::vector<SceneChange>;

}  // namespace stet::client
