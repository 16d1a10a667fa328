// Turn: from one user submission until the model rests. The loop: ask the model, run what it calls,
// append what happened, ask again.
//
// Append, then publish, then act: the user's message is flushed before the model is asked, a call
// with effects starts only when its `tool_started` is flushed, and a result is in the log before
// the model sees it. Every call has a result, whatever happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/calls/calls.h"
#include "agent/compaction.h"
#include "agent/progress.h"
#include "agent/refusals.h"
#include "agent/unfinished.h"
#include "agent/workbench.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "provider/failure.h"

namespace stet::provider {
struct CallResult;
}

namespace stet::agent {

/// Why a turn ended, as the log spells it.
namespace ended {
inline constexpr std::string_view kCompleted = "completed";
inline constexpr std::string_view kCancelled = "cancelled";
inline constexpr std::string_view kMaxTurns = "max_turns";
inline constexpr std::string_view kBudget = "budget";
inline constexpr std::string_view kTimeout = "timeout";
inline constexpr std::string_view kStopped = "stopped";     // The user or a hook said so.
inline constexpr std::string_view kDenied = "denied";       // By the rules, again and again.
inline constexpr std::string_view kBlocked = "blocked";     // A gate holds the end up.
inline constexpr std::string_view kNoOutput = "no_output";  // Nothing that fits the schema came.
inline constexpr std::string_view kRefused = "refused";
inline constexpr std::string_view kOverflow = "overflow";
inline constexpr std::string_view kError = "error";
inline constexpr std::string_view kInterrupted = "interrupted";  // The process died.
}  // namespace ended

struct TurnOutcome {
  std::string reason;  // One of ended::.
  std::string error;   // For people, when it ended badly.
  std::optional<provider::FailureKind> failure;
  int steps = 0;
  std::string text;  // What the model said last.
  std::optional<std::string> stop_reason;
  std::int64_t price = 0;   // Micro-units, of what has a price.
  std::int64_t tokens = 0;  // Of all kinds, as far as they were reported.
  std::chrono::milliseconds model_time{0};
  std::vector<Denial> denials;
};

class Turn {
 public:
  /// Goes on with `turn_id` if there is one.
  Turn(Workbench& bench, const CancelToken& cancel, const std::string& turn_id = "");

  [[nodiscard]] const std::string& id() const { return *stamp_.turn_id; }
  [[nodiscard]] const protocol::Stamp& stamp() const { return stamp_; }

  // All of them fail only when the log cannot be written; whatever else goes wrong is in the end.

  /// Begins with the event that is the leaf now: a user's message, or a notice.
  Async<Result<TurnOutcome>> Run();
  /// Goes on with the calls of the last message that wait for the user's answer.
  Async<Result<TurnOutcome>> Resume(const Unfinished& unfinished);
  /// Ends before it begins: hooks refused the message that it was to answer, and said why.
  Result<TurnOutcome> Refuse(std::string why);
  /// Nothing but a compaction, because a client asked for it.
  Async<Result<TurnOutcome>> Compact(CompactionWanted wanted);

 private:
  // The whole turn.
  Status Begin();
  void PublishStart();
  Async<Status> RunSteps(TurnOutcome& end);
  [[nodiscard]] bool OverLimit(TurnOutcome& end) const;
  Status Finish(TurnOutcome& end);
  [[nodiscard]] Result<protocol::Blocks> LastMessage() const;

  // One step, in the order of its phases.
  Async<Status> Step(TurnOutcome& end, bool& rests);
  void BeginStep(TurnOutcome& end);
  Async<Status> TellOwed();
  Status TakeSteers();
  Async<Result<std::optional<std::string>>> PrepareContext();
  Async<Result<provider::CallResult>> AskAndKeep(Calls& calls, TurnOutcome& end);
  Result<provider::Request> BuildRequest();
  Status Keep(const provider::CallResult& call, const std::string& event_id);
  Async<Status> RunCalls(Calls& calls, const protocol::Blocks& blocks, TurnOutcome& end);
  Async<Status> CheckRefusals(const Calls& calls);
  Async<Status> CheckProgress(const Calls& calls);
  Async<Result<bool>> AskToGoOn(std::string text);
  void PublishStepEnd(const TurnOutcome& end, const protocol::AssistantContent& reply);
  [[nodiscard]] static bool HasText(const protocol::Blocks& blocks);
  [[nodiscard]] static bool HasCalls(const protocol::Blocks& blocks);

  // What follows it (turn_next.cc, turn_hooks.cc).
  Async<Status> DecideNext(const provider::CallResult& asked, TurnOutcome& end, bool& rests);
  Async<Result<bool>> RecoverRoom(const provider::CallResult& call);
  Status Recover(const provider::CallResult& call, TurnOutcome& end, bool& rests);
  Result<bool> GoOnAfter(const provider::CallResult& call);
  Result<bool> GoOnForGates();
  Async<Status> AskStopHooks(TurnOutcome& end, bool& rests);
  void Rest(const provider::CallResult& call, TurnOutcome& end) const;
  Status Remind(std::string text);

  Workbench& bench_;
  CancelSource cancel_;
  Timer clock_;
  bool timed_out_ = false;
  bool stopped_ = false;
  std::string stop_reason_;  // For people.
  protocol::Stamp stamp_;
  Progress progress_;
  Refusals refusals_;
  bool denied_ = false;                     // The rules refused too much, and no client answers.
  std::optional<std::int64_t> max_tokens_;  // Raised, after a reply was cut.
  int continuations_ = 0;                   // In a row.
  int output_reminders_ = 0;
  int gate_reminders_ = 0;
  int stop_blocks_ = 0;        // By hooks, in a row without progress.
  bool stop_blocked_ = false;  // In this turn.
  std::string held_up_;        // Why a gate does not let it end.
  bool call_text_told_ = false;
  int overflows_ = 0;  // In a row.
};

}  // namespace stet::agent
