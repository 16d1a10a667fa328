// Turns: how a face has work done. An interface, so that faces know no host. Blocking; one at a
// time.
#pragma once

#include <functional>
#include <string>

#include "base/cancel.h"
#include "base/result.h"
#include "protocol/event.h"
#include "protocol/transient.h"
#include "protocol/turn_report.h"

namespace stet::client {

/// Hears a session live, in the order of seq: one of the two is null. Called on the thread that
/// runs the turn; must not block for long.
using Watcher = std::function<void(const protocol::Event*, const protocol::Transient*)>;

class Turns {
 public:
  virtual ~Turns() = default;

  /// One whole turn. Cancelling ends it soon, with everything kept. An error is a turn that could
  /// not begin, or a log that could not be written; what the model or its tools did is in the
  /// report.
  virtual Result<protocol::TurnReport> Submit(const protocol::Submission& submission,
                                              const Watcher& watcher,
                                              const CancelToken& cancel) = 0;

  /// The newest session of this folder: what `--continue` means. kNotFound when there is none.
  virtual Result<std::string> Latest(const std::string& cwd) = 0;
};

}  // namespace stet::client
