// Projections of a session's log: what a model is shown and where the run stands, as text that two
// of them can be compared by. The same log must give the same, however they were brought up to it.
#pragma once

#include <string>

#include "agent/run/view.h"
#include "context/conversation.h"
#include "log/log.h"

namespace stet::test {

std::string EntryText(const provider::Entry& entry);

/// Brought up to one log after the other, each of which goes on from the one before.
class Projections {
 public:
  std::string Of(const log::Log& log);

 private:
  context::Conversation conversation_;
  agent::RunView run_;
};

/// For every beginning of the session's log: what was brought up to it event by event is what is
/// made of it at once. `dir` is the session's folder; a log of more events is passed over, as one
/// that cannot be read.
void ExpectProjections(const std::string& dir, std::size_t most_events);

}  // namespace stet::test
