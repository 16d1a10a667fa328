// Provider: asks a model. Whatever the dialect, and whatever goes wrong below, the caller hears one
// stream and gets one result.
#pragma once

#include <vector>

#include "base/cancel.h"
#include "base/task.h"
#include "protocol/work.h"
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

  /// The bytes that would be sent, for hashing and looking; the offline model has its own form.
  [[nodiscard]] virtual Result<std::string> Body(const Request& request) const = 0;

  /// `request` and `sink` must outlive the task. A failure is in the result, never lost.
  virtual Task<CallResult> Stream(const Request& request, Sink& sink, CancelToken cancel) = 0;
};

}  // namespace stet::provider
