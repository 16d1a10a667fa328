// Lane: the single writer of one session. Takes what clients send, runs the session's turns one
// after the other, and keeps its queues; everything it knows it could read from the log again.
//
// Belongs to the host's loop: everything here is called on its thread. A turn that ends well goes
// on with the next follow-up; after a cancel, an error or a restart the queues stand still until a
// client sends or continues.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/asks.h"
#include "agent/instructions.h"
#include "agent/opening.h"
#include "agent/turn.h"
#include "base/environment.h"
#include "base/loop.h"
#include "client/live.h"
#include "hook/extensions.h"
#include "hook/hooks.h"
#include "host/model_access.h"
#include "log/log.h"
#include "protocol/tasks.h"
#include "protocol/wire.h"
#include "provider/selection.h"
#include "tool/shells.h"
#include "tool/tasks.h"

namespace stet::host {

/// What a lane is made of. Everything referred to outlives it.
struct LaneSetup {
  Loop& loop;
  ModelAccess& models;
  std::unique_ptr<log::Log> log;
  provider::Selected model;
  std::optional<std::string> effort;
  policy::Rules rules;
  agent::SandboxRules sandbox;
  agent::Limits limits;
  agent::InstructionSources instructions;
  tool::Workspace workspace;
  tool::Selection tools;  // That there are.
  std::optional<Raw> output_schema;
  Variables variables;                     // That commands and hooks get: no keys.
  std::vector<std::string> hidden;         // Names of those that they do not get.
  std::vector<std::string> private_hosts;  // That WebFetch may ask.
  bool answers = false;                    // A client answers what is asked.
  bool keep_waiting = false;  // What was asked before still waits, if a client answers.
  bool fresh = false;         // The session was made just now.
  bool woken = false;         // It goes on where it was put to sleep.
  bool task_end_starts_turn = true;
  agent::ContextRules context = {};
  std::optional<provider::Selected> auxiliary;  // Makes titles.
  agent::Redactor redactor;
  /// Keeps a grant beyond the session: `project` or `always`.
  std::function<Status(const std::string& scope, const std::string& rule)> keep_grant;
  std::vector<hook::Hook> hooks = {};
  std::vector<hook::ExtensionManifest> extensions = {};
  protocol::Texts notes = {};  // What a face should say about how the session was opened.
  /// Makes the last request again, so that the next one can be compared with it.
  std::function<void(agent::Workbench&)> prime;
  /// Finds a model that a client asks for.
  std::function<Result<provider::Selected>(const std::string&)> select;
};

class Lane {
 public:
  /// Settles what the log was left in the middle of. Fails when the log cannot be written, or when
  /// tools or schema make no sense.
  static Result<std::unique_ptr<Lane>> Open(LaneSetup setup);
  ~Lane();

  [[nodiscard]] protocol::LiveState State() const;
  [[nodiscard]] Result<protocol::PermissionReport> Permissions() const;
  // `client_id` is the client that sends, answers or marks; it goes into the log.
  Result<protocol::Accepted> Send(const protocol::Send& send, const std::string& client_id);
  void Cancel();
  Status Answer(const protocol::PermissionAnswer& answer, const std::string& client_id);
  Status Answer(const protocol::QuestionAnswer& answer, const std::string& client_id);
  Status RewriteQueue(const std::string& queue, const protocol::QueueItems& items);
  Status Change(const protocol::Change& change);
  Result<client::Moved> Rewind(const std::optional<std::string>& target);
  Result<client::Moved> Branch(const std::string& leaf);
  [[nodiscard]] Result<protocol::FileRows> FilesSince(const std::optional<std::string>& target,
                                                      bool restore);
  [[nodiscard]] Result<std::vector<protocol::Event>> Recent(std::size_t count) const;
  Result<std::string> Mark(const protocol::Mark& mark, const std::string& client_id);
  /// An extension's command: what to show, or kNotFound. What it wants sent is sent.
  Async<Result<std::string>> RunCommand(std::string name, std::string text, std::string client_id);
  Result<protocol::RunReport> Run();
  [[nodiscard]] Result<protocol::TurnRows> Turns() const;
  [[nodiscard]] std::optional<protocol::TurnReport> Report(const std::string& turn_id) const;
  [[nodiscard]] log::Log& log() { return *setup_.log; }

  /// A turn is under way, or waits for an answer.
  [[nodiscard]] bool working() const { return turn_ != nullptr; }
  /// Nothing at all goes on, in the background neither.
  [[nodiscard]] bool resting() const;
  /// What runs in the background, and what has run there, in the order of their start.
  [[nodiscard]] Result<protocol::TaskRows> Tasks() const;
  /// A person has it stopped; its end follows soon. kNotFound, kConflict when it has ended.
  Status StopTask(const std::string& task_id);
  [[nodiscard]] Result<protocol::TaskOutput> TaskOutput(
      const std::string& task_id, const protocol::TaskRange& range = {}) const;
  /// From now on a client answers what is asked.
  void ExpectAnswers() { asks_.set_present(true); }
  /// What a client does for the session from now on; null: nothing.
  void UseServices(std::shared_ptr<client::Services> services);

  /// Cancels what runs, and ends when all is at rest and the log is closed. One that `sleeps` will
  /// be opened again: hooks are not told of an end.
  Async<Status> Close(bool sleeps = false);

 private:
  explicit Lane(LaneSetup setup);
  Status Prepare();
  Status AddTools();
  Status OpenToolset();
  Status Settle(bool keep_waiting);
  Status EnsureSnapshot();
  void UseSnapshot();
  Status NoteAppendedInstructions();
  Status NoteLostTasks(const protocol::TaskRows& tasks);

  Result<protocol::Accepted> Start(const protocol::Send& send, const std::string& client_id);
  Result<protocol::Accepted> Enqueue(const protocol::Send& send, const std::string& client_id);
  Result<protocol::Accepted> Continue();
  Result<protocol::Accepted> Compact(const std::string& focus);
  Result<protocol::Accepted> Next();
  Result<protocol::Blocks> ContentOf(const protocol::Send& send);
  Status AppendMessage(protocol::UserMessage message, const std::string& client_id);
  void NewTurn(const std::string& turn_id = "");

  Async<void> Work(std::string mentions, bool resume);
  Async<Status> RunOne(std::string mentions, bool resume);
  Async<void> WorkCompaction(std::string focus);
  Result<bool> TakeFollowUp(std::string& text);
  void EndTurn(const Result<agent::TurnEnd>& end);
  void ShowEnd(const agent::TurnEnd& how);
  protocol::TurnReport ReportOf(const agent::TurnEnd& end) const;
  Status AtRest();
  Status Moved();
  Status ApplyChanges();
  Async<void> MakeTitle(std::string prompt);
  Async<void> KeepMemory();
  void OpenHooks();
  Status OpenExtensions();
  Async<void> TellStart();
  Async<void> AwaitStart();
  Async<void> TellEnd(bool sleeps);
  Result<std::string> Pin(const std::string& text);
  Result<std::string> Unpin(const std::string& id);
  Result<std::string> Snip(const protocol::Mark& mark, const std::string& by);
  Result<std::string> SnipByModel(const std::optional<std::string>& turn, bool undo);
  Result<std::string> RaiseGate(const std::string& text);
  Result<std::string> CloseFinding(const protocol::Mark& mark, const std::string& by);
  Status TellOfPin(std::string text);
  Status TellOfPins();
  void OpenTasks(const protocol::TaskRows& tasks);
  void RecordEnds();
  Status RecordEnd(const tool::BackgroundTask& task);
  Result<bool> BeginWithOwed();

  LaneSetup setup_;
  agent::Asks asks_;
  std::unique_ptr<provider::Provider> provider_;
  std::unique_ptr<provider::Provider> auxiliary_;  // Null when none is configured.
  std::unique_ptr<tool::Tasks> tasks_;
  std::unique_ptr<tool::Shells> shells_;
  /// Have ended, and the log could not be told yet.
  std::deque<std::shared_ptr<tool::BackgroundTask>> unrecorded_;
  agent::SessionTools tools_;
  std::unique_ptr<hook::Hooks> hooks_;  // Null when there are none.
  agent::Workbench bench_;
  std::unique_ptr<hook::Extensions> extensions_;  // Null when there are none.
  log::Subscription heard_;                       // By extensions.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  agent::Opening opening_;
  bool waits_ = false;   // For an answer to what was asked before this lane was opened.
  bool broken_ = false;  // The last turn ended because the log could not be written.
  bool closing_ = false;
  bool pins_unsure_ = true;  // The model may not see all of them where the leaf is now.
  bool primed_ = false;
  bool verified_ = false;  // The run was compared with the files since the leaf was moved.
  CancelSource cancel_;
  std::unique_ptr<agent::Turn> turn_;
  std::chrono::steady_clock::time_point turn_began_;
  std::deque<protocol::TurnReport> reports_;  // Of the latest turns.
  std::optional<Pending<bool>> rested_;       // Set when the work that runs has ended.
  CancelSource title_cancel_;
  std::optional<Pending<bool>> title_done_;
  std::optional<Pending<bool>> memory_done_;  // While it is brought up to date, and after.
  bool remembering_ = false;
  std::optional<Pending<bool>> started_;  // While hooks are told that the session begins.
  protocol::Texts notes_;
  std::optional<provider::Selected> next_model_;  // Asked for while a turn ran.
  std::optional<std::string> next_effort_;
};

}  // namespace stet::host
