// Extensions: the extensions of one session (doc/format/extensions.md): their tools and commands,
// what they hear, and what they have a say in, one after the other in the order of their ids.
//
// One that fails is told of and skipped; where its manifest says fail = "closed", what it was to be
// asked about does not happen. Belongs to the session's lane, on its loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/environment.h"
#include "base/loop.h"
#include "hook/event.h"
#include "hook/extension/manifest.h"
#include "hook/extension/reply.h"
#include "hook/output.h"
#include "tool/tool.h"

namespace stet::hook {

/// Something that an extension wants the model to see, as it is stored.
struct ExtensionMessage {
  std::string kind;  // "<id>.<its kind>".
  std::string text;
  Raw data;
};

/// What a session is to its extensions. Called on the loop.
struct ExtensionHost {
  /// Keeps the data as a `custom` event of this kind, and gives all of a kind back as an array.
  std::function<Status(const std::string& kind, const Raw& data)> append;
  std::function<Result<Raw>(const std::string& kind)> read;
  /// Takes it to the model with the next step.
  std::function<void(ExtensionMessage)> message;
  /// Tells people.
  std::function<void(const std::string& by, const std::string& text)> notice;
};

struct ExtensionSession {
  Loop& loop;
  std::string session_id;
  std::string project;
  Variables variables;  // That they get: no keys.
};

/// What one of them would have done with the context.
struct ContextChange {
  std::string by;  // "extension:<id>"
  std::vector<ContextOperation> operations;
};

class Extensions {
 public:
  Extensions(std::vector<ExtensionManifest> manifests, const ExtensionSession& session,
             const ExtensionHost& host);
  ~Extensions();
  Extensions(const Extensions&) = delete;
  Extensions& operator=(const Extensions&) = delete;

  /// Valid as long as this. The toolbox that takes them skips those whose name is taken.
  std::vector<std::unique_ptr<tool::Tool>> MakeTools();

  [[nodiscard]] std::vector<ExtensionCommand> commands() const;
  /// kNotFound when there is no such command.
  Async<Result<CommandReply>> RunCommand(std::string name, std::string text, CancelToken cancel);

  [[nodiscard]] bool Intercepts(std::string_view what) const;
  /// PreToolUse or PostToolUse(Failure), behind the hooks: each is asked about what those before it
  /// left, and what it says is added. `verdict` outlives the task.
  Async<void> Judge(Occasion occasion, Verdict& verdict, CancelToken cancel);
  /// `events`: an array of what is new. An error: one that fails closed failed.
  Async<Result<std::vector<ContextChange>>> Transform(Raw events, CancelToken cancel);

  /// Ends when every message that they have sent so far was handed to the host, or never will be.
  /// Awaited by one task at a time.
  Async<void> Settle();

  /// Tells those that hear of it. `data` is JSON.
  void Tell(std::string_view event, const Raw& data);
  [[nodiscard]] bool Hears(std::string_view event) const;

  /// Ends all of them, soon.
  Async<void> Close();

 private:
  class One;

  std::vector<std::shared_ptr<One>> all_;
};

}  // namespace stet::hook
