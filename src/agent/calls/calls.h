// Calls: runs the tool calls of one assistant message, each to exactly one result.
//
// A call goes through six phases, and so do these files:
//   plan     what the call would do (calls.cc)
//   decide   policy says allow, ask or deny; hooks may say otherwise (calls.cc, hooks.cc)
//   ask      hooks, or a person, answer what policy wants asked (ask.cc)
//   start    in its turn, if it is still allowed then, behind a checkpoint of what it may change
//            (checkpoint.cc) and a flushed `tool_started` (start.cc)
//   finish   what the tool gave, without secrets (start.cc)
//   append   the result, behind the facts of the call (append.cc)
// A call that one of them ends has its result, which says why, and goes through no other.
//
// Calls that only read local files, and that policy allows unasked, run side by side, and may start
// while the reply still streams when nothing with effects stands before them. Every other call runs
// alone, after all before it, and only once its `tool_started` is flushed. Nothing about a call is
// in the log before its message: what an early call did is held and appended right behind it.
//
// Belongs to one step of a turn. Run or Abandon must have ended before it is destroyed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/unfinished.h"
#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "hook/output.h"
#include "policy/policy.h"
#include "protocol/live.h"
#include "tool/tool.h"

namespace stet::agent {

struct Boxed;

/// A call that was not allowed.
struct Denial {
  std::string tool;
  std::string tool_call_id;
  Raw args;
  std::string rule;
};

class Calls {
 public:
  /// `earlier`, if not null, is what the log says of calls that waited when it was opened; all but
  /// the token must outlive this.
  Calls(Workbench& bench, const protocol::Stamp& stamp, CancelToken cancel,
        const Unfinished* earlier = nullptr);
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // While the reply streams.

  /// The reply has begun its block `index`, a call of this tool.
  void Begun(std::int64_t index, std::string_view tool);
  /// That block is complete: starts the call if it may start now.
  void Complete(std::int64_t index, const protocol::ToolCallBlock& block);
  /// The reply is void: what was started for it is stopped and forgotten.
  void Forget();
  /// The reply never became a message: forgets it, and ends when nothing of it runs any more.
  Async<void> Abandon();

  /// The message with `blocks` is in the log: runs those of its calls that have no result. Fails
  /// only when the log cannot be written.
  Async<Status> Run(const protocol::Blocks& blocks);

  [[nodiscard]] const std::vector<Denial>& denials() const { return denials_; }
  /// The user denied a call and asked for the turn to end; or a hook did.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// For people; may be empty.
  [[nodiscard]] const std::string& stop_reason() const { return stop_reason_; }
  /// What each call was and gave, as hashes: to see whether anything new happens.
  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }

 private:
  struct One;
  using OnePtr = std::shared_ptr<One>;
  /// False: the call goes through no further phase, because it has its result. Fails only when the
  /// log cannot be written.
  using GoesOn = Result<bool>;

  Status AnnounceEarly(const protocol::Blocks& blocks);
  Async<Status> RunCall(const protocol::ToolCallBlock& block);

  // Plan, decide.
  Result<OnePtr> Plan(const protocol::ToolCallBlock& block) const;
  [[nodiscard]] policy::Question Question(const One& one) const;
  void Decide(One& one) const;
  [[nodiscard]] policy::Decision DecisionNow(const One& one) const;
  [[nodiscard]] policy::Circumstances CircumstancesOf(const tool::Intent& intent) const;
  Async<GoesOn> HearHooks(One& one);
  GoesOn Change(One& one, Raw args, std::string_view how);
  [[nodiscard]] Result<tool::Intent> IntentOf(const One& one, const Raw& args) const;

  // Ask.
  Async<GoesOn> Ask(One& one);
  Async<Result<std::optional<bool>>> AskHooks(One& one);
  Async<GoesOn> AskPerson(One& one);
  [[nodiscard]] const protocol::Permission* AskedBefore(const One& one) const;
  GoesOn TakeAnswer(One& one, const protocol::PermissionAnswer& answer);
  [[nodiscard]] std::optional<std::string> RuleForEdit(const One& one, const Raw& args) const;
  void Grant(const std::string& rule, const std::string& scope);

  // Start, finish.
  Async<Status> StartInTurn(OnePtr one);
  [[nodiscard]] bool MayChangeProject(const One& one) const;
  Async<Status> TakeCheckpoint(const One& one);
  [[nodiscard]] std::string NotCoveredText(const One& one) const;
  [[nodiscard]] Result<std::vector<std::string>> HeldFiles(const One& one) const;
  Async<void> SeeWhatChanged(One& one, tool::Outcome& outcome);
  Async<Result<Boxed>> FindBox(const One& one);
  GoesOn StillAllowed(const One& one);
  void Start(const OnePtr& one);
  Status Announce(One& one);
  Async<void> Execute(OnePtr one);
  [[nodiscard]] std::optional<tool::Outcome> Changed(const One& one) const;
  tool::Call MakeCall(One& one);
  Status RecordTask(const One& one, protocol::Task task);
  void ShowOutput(const One& one, std::string_view text);
  Async<Result<Raw>> AskUser(const One& one, std::string text, Raw options);
  Async<Status> Await(std::size_t at_most);
  void Finish(One& one, tool::Outcome outcome);

  // Append.
  Status AppendOutcome(One& one);
  Status Refuse(const One& one, const policy::Decision& decision, std::string_view more = "");
  Status Deny(const One& one, const policy::Decision& decision, std::string_view why);
  Status Answer(const protocol::ToolCallBlock& block, const tool::Outcome& outcome,
                std::vector<log::Draft> batch = {});
  [[nodiscard]] std::vector<log::Draft> Drafts(std::vector<protocol::Payload> payloads) const;
  Async<Status> TellHooks(One& one);
  void TakeStop(const hook::Verdict& verdict);

  Status LoadFiles();

  Workbench& bench_;
  const protocol::Stamp& stamp_;
  CancelToken cancel_;
  const Unfinished* earlier_;
  std::map<std::int64_t, bool> begun_;  // Blocks that are calls: whether they only read.
  std::map<std::string, OnePtr> early_;
  std::vector<OnePtr> running_;
  std::vector<OnePtr> side_by_side_;  // Those that ran, or run, beside others.
  Status status_;                     // The first failure of the log.
  std::vector<Denial> denials_;
  std::vector<std::string> findings_;
  bool stopped_ = false;
  std::string stop_reason_;
};

}  // namespace stet::agent
