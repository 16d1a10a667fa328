// AskModel: a model call that leaves its trace. `model_call` start is written before the request is
// sent, its end with what every attempt used when the reply is there; a process that dies in
// between leaves a call of unknown cost.
#pragma once

#include <string>

#include "base/async.h"
#include "base/cancel.h"
#include "context/account.h"
#include "log/log.h"
#include "provider/provider.h"

namespace stet::agent {

struct CallPurpose {
  std::string purpose;    // turn, compaction, title, ...
  protocol::Stamp stamp;  // The turn, step and agent that it is for.
  std::string toolset;    // The blob of the request's tools; empty when it has none.
  /// Keeps the books on what is cached; outlives the task. Null for requests that stand alone.
  context::Account* account = nullptr;
};

/// Everything but the log and the provider must outlive the task, and so must those. Fails only
/// when the log cannot be written or the request cannot be encoded; what the model's server did
/// wrong is in the result.
Async<Result<provider::CallResult>> AskModel(log::Log& log, provider::Provider& model,
                                             const provider::Request& request,
                                             const CallPurpose& purpose, provider::Sink& sink,
                                             CancelToken cancel);

}  // namespace stet::agent
