// TurnReports: what came of the latest turns of a session, for clients that ask when a turn has
// ended.
//
// Owned by the lane.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "protocol/turn_report.h"

namespace stet::agent {
struct TurnOutcome;
struct Workbench;
}  // namespace stet::agent

namespace stet::lane {

class TurnReports {
 public:
  static constexpr std::size_t kMostKept = 256;  // The oldest go first.

  struct Ended {
    const std::string& turn_id;
    std::chrono::steady_clock::time_point began;
    const agent::TurnOutcome& how;
  };

  /// `bench` outlives it.
  explicit TurnReports(agent::Workbench& bench) : bench_(bench) {}

  /// Keeps the report, and then publishes the end: a client that hears of the end asks for it.
  void Tell(const Ended& ended);
  [[nodiscard]] std::optional<protocol::TurnReport> Find(const std::string& turn_id) const;

 private:
  [[nodiscard]] protocol::TurnReport ReportOf(const Ended& ended) const;

  agent::Workbench& bench_;
  std::deque<protocol::TurnReport> reports_;
};

}  // namespace stet::lane
