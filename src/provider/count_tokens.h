// CountTokens: how many tokens a request is, counted by the model's server, in the dialects that
// have a question for that.
#pragma once

#include <cstdint>

#include "provider/attempt.h"
#include "provider/dialect.h"
#include "provider/model.h"

namespace stet::provider {

/// The question about a request that was encoded for `model`. kUnsupported in the dialects that
/// have none.
Result<WireRequest> EncodeCount(const Model& model, const WireRequest& wire);

/// Asks once; a count is not worth waiting for. All references must outlive the task. kAuth when
/// the key is refused, kCancelled, or kUnavailable with what went wrong.
Async<Result<std::int64_t>> AskCount(net::HttpClient& http, const net::HttpRequest& request,
                                     CancelToken cancel);

}  // namespace stet::provider
