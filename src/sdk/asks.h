// StreamAsks: what a session asks, put to the program at the other end as `can_use_tool`, and what
// its answers mean. Requests are told apart by their ids and may be answered in any order.
//
// An answer that cannot be understood is a no.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "protocol/ask.h"
#include "sdk/input.h"

namespace stet::sdk {

/// What an answer comes to.
struct AskReply {
  protocol::AskAnswer answer;
  std::optional<std::string> mode;  // The permission mode from now on.
  bool stop = false;                // The turn shall end.
};

class StreamAsks {
 public:
  /// The line that asks; nothing when that was asked before.
  std::optional<std::string> Ask(const protocol::Ask& ask);
  /// The line that takes the request back; nothing when it is not open.
  std::optional<std::string> Withdraw(const std::string& id);
  /// Nothing when no such request is open.
  std::optional<AskReply> Answer(const ControlResponse& response);
  /// Any request that waits for its answer.
  [[nodiscard]] std::optional<std::string> first_open() const;

 private:
  std::map<std::string, protocol::Ask> open_;
  std::set<std::string> asked_;
};

}  // namespace stet::sdk
