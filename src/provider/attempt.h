// Attempt: one exchange with a model's server, from the request's bytes to a Reply. No retry.
#pragma once

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "net/http.h"
#include "provider/dialect.h"
#include "provider/rate_limits.h"
#include "provider/reply_builder.h"

namespace stet::provider {

/// What attempts need from outside; all of it outlives them.
struct Surroundings {
  net::HttpClient& http;
  const Clock& clock;
  Random& random;
};

struct AttemptResult {
  Reply reply;             // With a failure, unless it succeeded.
  bool started = false;    // Something of it was on the stream.
  bool committed = false;  // Text was shown or a tool call completed.
  std::vector<RateLimit> limits;
};

/// Sends `request` and streams the reply to `sink`. All references must outlive the task.
Async<AttemptResult> RunAttempt(const Surroundings& surroundings, const Model& model,
                                const net::HttpRequest& request, Sink& sink, CancelToken cancel);

}  // namespace stet::provider
