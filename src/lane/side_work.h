// SideWork: what the auxiliary model does for a session beside its turns: its title, and its memory
// between turns. Nothing waits for it but the end of the lane, which owns it.
#pragma once

#include <optional>
#include <string>

#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "lane/lane_turns.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

class SideWork {
 public:
  /// Both outlive it. Without an auxiliary model nothing is done.
  SideWork(agent::Workbench& bench, const LaneTurns& turns) : bench_(bench), turns_(turns) {}

  /// Out of the session's first message.
  void MakeTitle(std::string prompt);
  /// Brings the memory up to the leaf, unless a turn is under way. One that is at it goes on.
  void KeepMemory();
  [[nodiscard]] bool pending() const;
  /// Cancels both, and ends when they have ended.
  Async<void> Stop();

 private:
  Async<void> AskTitle(std::string prompt);
  Async<void> UpdateMemory();

  agent::Workbench& bench_;
  const LaneTurns& turns_;
  CancelSource cancel_;
  std::optional<Pending<bool>> title_;   // Set when it was tried.
  std::optional<Pending<bool>> memory_;  // Of the last update: set when it has ended.
};

}  // namespace stet::lane
