// Ledger: what the model calls of a session came to, folded from its events. Pure.
//
// The sums are what servers reported, to the token. A call that has no end (the process died), or
// an attempt whose usage the server did not report, is counted as unknown and never as zero.
#pragma once

#include <string>
#include <unordered_map>

#include "protocol/event.h"
#include "protocol/session.h"

namespace stet::run {

class Ledger {
 public:
  /// Any event, in file order; only model_call counts.
  void Fold(const protocol::Event& event);

  /// The sums so far. `session_id` is copied into it.
  [[nodiscard]] protocol::CostReport Report(const std::string& session_id) const;

 private:
  struct Call {
    std::string purpose;
    std::string model;
    std::string turn;
    protocol::CostSum sum;
  };

  /// In the order they started.
  std::vector<Call> calls_;
  std::unordered_map<std::string, std::size_t> by_id_;
};

}  // namespace stet::run
