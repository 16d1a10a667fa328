// LaneWork: the turns of a lane: how one begins, runs and ends, and what follows it.
//
// Append, then publish, then act: what a turn begins with is in the log before it runs. A turn that
// ends well is followed by the next follow-up, or by the ends of tasks that the model was not told
// of; after any other end the lane is idle until a client sends or continues.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "agent/turn.h"
#include "agent/unfinished.h"
#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "lane/lane_turns.h"

namespace stet::lane {

struct LaneParts;

class LaneWork final : public LaneTurns {
 public:
  /// `parts` outlives it.
  explicit LaneWork(LaneParts& parts) : parts_(parts) {}

  [[nodiscard]] LaneLife life() const { return life_; }
  [[nodiscard]] bool working() const override { return turn_ != nullptr; }
  /// Of the turn that is under way.
  [[nodiscard]] const std::string& turn_id() const { return turn_->id(); }
  /// The last turn did not come to its end, and may be continued.
  [[nodiscard]] bool unfinished() const;

  // Opening: what the log was left in the middle of.

  /// Gives every call that a dead process left open its result, by what the log says of the call. A
  /// turn that only waits for an answer goes on waiting, with `keep_waiting`.
  Status Settle(agent::Unfinished unfinished, bool keep_waiting);
  /// The lane is open: goes on with the turn that waits, if there is one.
  void GoOn();
  /// Where the log could not be written when the last turn ended: settles it, before another
  /// begins.
  Status Recover();

  // A turn begins. Each fails as the appending of what it begins with does; then there is no turn.

  [[nodiscard]] bool MayBegin() const override;
  Status Begin(const Beginning& beginning) override { return BeginWith(beginning, ""); }
  /// The user's message: hooks are asked about it, and files that it mentions are attached.
  Status BeginWithMessage(protocol::UserMessage message, const std::string& client_id);
  /// False: nothing is queued.
  Result<bool> BeginWithFollowUp();
  /// Nothing but a compaction.
  void BeginCompaction(agent::CompactionWanted wanted);

  /// Nothing when another turn runs than `turn_id`; empty: whichever does.
  void Cancel(const std::string& turn_id = "");
  /// No turn follows the one that runs, which is cancelled; ends when it has ended.
  Async<void> End();
  /// While it is held back no turn begins by itself: files are put back.
  void HoldBack(bool held) { held_back_ = held; }
  /// The leaf was moved: what was remembered of the old path is forgotten.
  void Moved();

 private:
  Status BeginWith(const Beginning& beginning, std::string text);
  Status Prepare(const Beginning& beginning);
  Result<bool> PrepareFollowUp(std::string& text);
  Result<bool> PrepareOwed();
  Result<bool> PrepareNext(std::string& text);
  Status AppendMessage(protocol::UserMessage message, const std::string& client_id);
  void NewTurn(const std::string& turn_id = "");
  void DropTurn();

  Async<void> RunTurns(std::string text, bool resumes);
  Async<Result<agent::TurnOutcome>> RunTurn(std::string text, bool resumes);
  Async<void> RunCompaction(agent::CompactionWanted wanted);
  Status EndTurn(const Result<agent::TurnOutcome>& end);
  void TellEnd(const Result<agent::TurnOutcome>& end);
  [[nodiscard]] bool completed() const;

  LaneParts& parts_;
  LaneLife life_ = LaneLife::kOpening;
  /// What the log says of the turns so far. Nothing: the last one ended because the log could not
  /// be written.
  std::optional<agent::Unfinished> known_ = agent::Unfinished();
  bool held_back_ = false;
  CancelSource cancel_;  // Of the turn.
  std::unique_ptr<agent::Turn> turn_;
  std::chrono::steady_clock::time_point began_;
  std::optional<Pending<bool>> rested_;  // Set when the turn, or compaction, that runs has ended.
};

}  // namespace stet::lane
