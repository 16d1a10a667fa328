// OfflineProvider: the built-in model. No network, no learning: rules that turn plain requests into
// tool calls (offline_plan.h) and report what came of them. It is honest about what it is.
//
// It keeps no state: what comes next is read from the request, so a resumed session goes on where
// it stood. The same request gives the same reply.
#pragma once

#include "provider/provider.h"

namespace stet::provider {

class OfflineProvider final : public Provider {
 public:
  /// `random` names the tool calls and must outlive the provider.
  explicit OfflineProvider(Random& random);

  [[nodiscard]] const Model& model() const override { return model_; }
  [[nodiscard]] Result<WireRequest> Encode(const Request& request) const override;
  Async<CallResult> Stream(const Request& request, const WireRequest& wire, Sink& sink,
                           CancelToken cancel) override;
  Async<Result<std::int64_t>> CountTokens(const Request& request, CancelToken cancel) override;

 private:
  Model model_;
  Random& random_;
};

}  // namespace stet::provider
