// Provider: asks a model. Whatever the dialect, and whatever goes wrong below, the caller hears one
// stream and gets one result.
#pragma once

#include <vector>

#include "base/async.h"
#include "base/cancel.h"
#include "protocol/work.h"
#include "provider/dialect.h"
#include "provider/model.h"
#include "provider/rate_limits.h"
#include "provider/reply_builder.h"
#include "provider/request.h"
#include "provider/stream.h"

namespace stet::provider {

struct CallResult {
  Reply reply;  // Of the last attempt.
  std::vector<protocol::Attempt> attempts;
  std::vector<RateLimit> limits;  // As last reported.
  Model model;                    // Who answered: the fallback, after a switch.
};

class Provider {
 public:
  virtual ~Provider() = default;

  [[nodiscard]] virtual const Model& model() const = 0;

  /// The bytes that Stream will send: to hash, to compare, to look at. Without the key.
  [[nodiscard]] virtual Result<WireRequest> Encode(const Request& request) const = 0;

  /// Sends `wire`, which is `request` encoded; a fallback is sent `request` in its own dialect. All
  /// three must outlive the task. A failure is in the result, never lost.
  virtual Async<CallResult> Stream(const Request& request, const WireRequest& wire, Sink& sink,
                                   CancelToken cancel) = 0;

  /// How many tokens the request is, by the server's own count; kUnsupported where it has none.
  /// The request must outlive the task.
  virtual Async<Result<std::int64_t>> CountTokens(const Request& request, CancelToken cancel) = 0;
};

}  // namespace stet::provider
