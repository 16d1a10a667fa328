// HttpProvider: a model behind a server. Attempts, waits between them, and the change to another
// model when the first is overloaded.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/loop.h"
#include "provider/attempt.h"
#include "provider/provider.h"
#include "provider/retry.h"

namespace stet::provider {

/// A model and the key to it. The key never leaves this module but in a request's header.
struct Access {
  Model model;
  std::string key;  // Empty: none is sent.
};

class HttpProvider final : public Provider {
 public:
  /// `loop` and what `surroundings` names must outlive the provider.
  HttpProvider(Loop& loop, const Surroundings& surroundings, Access access,
               std::optional<Access> fallback, const RetryPolicy& policy);

  [[nodiscard]] const Model& model() const override { return access_.model; }
  [[nodiscard]] Result<WireRequest> Encode(const Request& request) const override;
  Async<CallResult> Stream(const Request& request, const WireRequest& wire, Sink& sink,
                           CancelToken cancel) override;
  Async<Result<std::int64_t>> CountTokens(const Request& request, CancelToken cancel) override;

 private:
  [[nodiscard]] static net::HttpRequest ToSend(const Access& access, const WireRequest& wire);
  Async<AttemptResult> Try(const Access& access, const WireRequest& wire, Sink& sink,
                           CancelToken cancel) const;
  bool EncodeFallback(const Request& request, WireRequest& out) const;
  Async<bool> Wait(const Failure& failure, std::chrono::milliseconds wait, int tries, Sink& sink,
                   CancelToken cancel) const;

  Loop& loop_;
  Surroundings surroundings_;
  Access access_;
  std::optional<Access> fallback_;
  RetryPolicy policy_;
};

}  // namespace stet::provider
