// LaneMarks: what people, and a model about its own turns, mark in a session: pins, turns that are
// left out, gates, findings that are closed. All of it is in the log when a call returns.
//
// It also knows whether the model may not see all pins where the leaf is. Owned by the lane.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lane/lane_turns.h"
#include "protocol/event.h"
#include "protocol/live.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

class LaneMarks {
 public:
  /// Both outlive it.
  LaneMarks(agent::Workbench& bench, const LaneTurns& turns) : bench_(bench), turns_(turns) {}

  /// What came of it, in one line. See client::LiveSession::Mark.
  Result<std::string> Mark(const protocol::Mark& mark, const std::string& client_id);
  /// The Snip tool: without a turn the list of turns that may be named, else what came of it.
  Result<std::string> SnipByModel(const std::optional<std::string>& turn, bool undo);

  /// The leaf was moved, or what the model is shown has changed: it may not see all pins any more.
  void DoubtPins() { pins_unsure_ = true; }
  /// Tells it of those that it may not see: at the beginning of a turn, before its message.
  Status TellOfPins(const protocol::Stamp& stamp);

 private:
  Result<std::string> Pin(const std::string& text);
  Result<std::string> Unpin(const std::string& id);
  Result<std::string> Snip(const protocol::Mark& mark, const std::string& by);
  Result<std::string> RaiseGate(const std::string& text);
  Result<std::string> CloseFinding(const protocol::Mark& mark, const std::string& by);
  Result<std::optional<protocol::Payload>> TellingOf(std::string text);
  Status AppendPin(protocol::Pin pin, std::string text);

  agent::Workbench& bench_;
  const LaneTurns& turns_;
  bool pins_unsure_ = true;
};

}  // namespace stet::lane
