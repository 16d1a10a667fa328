// Tool: something the model may call. An interface, so that the loop knows no tool.
//
// A call goes: the registry checks the arguments against the schema; Intend says what the call
// would do, without doing it, for policy to decide; Run does it. Whatever goes wrong inside is a
// result that the model can act on, not an error of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/ignore.h"
#include "base/loop.h"
#include "base/result.h"
#include "json/json.h"
#include "protocol/content.h"
#include "protocol/work.h"
#include "sandbox/confinement.h"
#include "tool/editor.h"
#include "tool/known_files.h"

namespace stet::tool {

class Checkpoints;
class ProjectView;

/// Where a session works.
struct Workspace {
  std::string project;                    // The project's root, a real path.
  std::string cwd;                        // Inside it, at first; follows `cd`.
  std::int64_t context_window = 200'000;  // Tokens: what may be read at once depends on it.
  /// Files of the project that no search shows. May be null.
  std::shared_ptr<const IgnoreFile> exclude;
  /// Names of files whose content no search shows, unless the file itself is asked for.
  std::vector<std::string> secret_names;
  /// Names of places that programs obey, wherever they stand in the project.
  std::vector<std::string> guarded_names;
  /// Names of folders whose content can be made again, where git ignores them.
  std::vector<std::string> expendable = {};
  /// How the project's files look; made when it is first looked at (tool/shell/facts.h).
  std::shared_ptr<ProjectView> view;
};

/// What a call would do.
struct Intent {
  bool effects = false;             // It changes something outside the session.
  std::vector<std::string> reads;   // Real paths as far as they exist.
  std::vector<std::string> writes;  // New or changed.
  std::string command;              // A shell command.
  bool unsandboxed = false;         // Which asks to run without the sandbox.
  std::string url;
  std::string summary;  // One line for people: "Edit src/a.cc", "make -j2".
};

struct Outcome {
  protocol::Blocks content;  // For the model: text, perhaps images.
  bool is_error = false;
  std::optional<Raw> details;             // For faces only.
  std::vector<protocol::FileFact> reads;  // Facts about what was read; the loop appends them.
  /// Facts about what was found written or deleted afterwards, by a command; appended before the
  /// result.
  std::vector<protocol::FileFact> writes;
  /// What its box kept the command from, as far as its output tells; empty: nothing.
  std::string kept_back = {};
  /// The user has approved the plan: what follows may write and run again.
  bool plan_approved = false;
};

/// A result that says what went wrong, and what to do.
Outcome Problem(std::string_view text);
Outcome Say(std::string text);

/// What a running call works with; owned by the loop, and outlives the call.
struct Call {
  std::string tool_call_id;
  Loop& loop;
  Workspace& workspace;
  KnownFiles& files;
  /// Knows how the project's files looked before the call.
  Checkpoints& checkpoints;
  CancelToken cancel;
  /// Appends and flushes a fact about a write that is about to happen. Nothing is written to disk
  /// when this fails.
  std::function<Status(protocol::FileFact)> record_write;
  /// Appends and flushes that a task starts, before it does. It does not start when this fails.
  std::function<Status(protocol::Task)> record_task;
  /// Keeps content beside the log and gives its name.
  std::function<Result<std::string>(std::string_view)> put_blob;
  /// What was kept under that name. kNotFound when nothing was.
  std::function<Result<std::string>(std::string_view)> get_blob;
  /// Progress, as more output.
  std::function<void(std::string_view)> update;
  /// Asks the person `text`, with options in the form of AskUser's own arguments, and gives what
  /// was said. kUnavailable when no client is there that answers.
  std::function<Async<Result<Raw>>(std::string text, Raw options)> ask;
  /// The session is in plan mode.
  bool planning = false;
  /// What a command is kept in; null: nothing.
  const sandbox::Chosen* sandbox = nullptr;
  /// A line for the result when it should have been and could not. Empty: nothing to say.
  std::string sandbox_note = {};
  /// Has files open and runs commands, for the client; null: the disk and this machine alone.
  std::shared_ptr<Editor> editor = nullptr;
  /// Tells faces that the call's command runs in that terminal of the editor's.
  std::function<void(const std::string& terminal_id)> show_terminal = nullptr;
  /// What policy decided on: no other file is read or written. Null: nothing was asked of it.
  const Intent* decided = nullptr;
};

class Tool {
 public:
  virtual ~Tool() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// For the model.
  [[nodiscard]] virtual std::string_view description() const = 0;
  /// JSON Schema of the arguments: an object.
  [[nodiscard]] virtual std::string_view schema() const = 0;
  /// Reads local files and does nothing else: it may start while the reply still streams.
  [[nodiscard]] virtual bool reads_only() const { return false; }
  /// Does nothing but ask a person through Call::ask.
  [[nodiscard]] virtual bool asks_user() const { return false; }

  /// `args` fit the schema. kInvalid, with what to correct, when the call makes no sense.
  [[nodiscard]] virtual Result<Intent> Intend(const Raw& args,
                                              const Workspace& workspace) const = 0;
  /// `args` and `call` must outlive the task.
  virtual Async<Outcome> Run(const Raw& args, Call& call) = 0;
};

}  // namespace stet::tool
