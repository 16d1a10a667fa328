// RunView: the state of the run, kept in step with a log and its leaf. What is new costs what it
// is; after a move of the leaf the state is made anew. Owned by the session's lane.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "log/log.h"
#include "run/state.h"

namespace stet::agent {

class RunView {
 public:
  /// Brings the state up to the log's leaf. Fails as reading the log does; then the state is that
  /// of an earlier time, and the next call begins anew.
  Status Update(const log::Log& log);

  /// Events before that seq were written by another device: they lift nothing that holds, and pin
  /// nothing. From now on; nothing was updated before.
  void TrustFrom(std::uint64_t seq) { since_ = seq; }

  /// As of the last Update.
  [[nodiscard]] const run::State& state() const { return state_; }

  /// Whether the run was compared with the files since the leaf was moved (VerifyRun).
  [[nodiscard]] bool verified() const { return verified_; }
  void set_verified(bool verified) { verified_ = verified; }

 private:
  Result<bool> Extend(const log::Log& log);
  Status Rebuild(const log::Log& log);
  Status Fold(const log::Log& log, log::Ordinal event);

  std::uint64_t since_ = 0;
  run::State state_;
  log::Ordinal next_ = 0;  // The first event that was not looked at.
  log::Ordinal leaf_ = log::kNone;
  bool verified_ = false;
};

}  // namespace stet::agent
