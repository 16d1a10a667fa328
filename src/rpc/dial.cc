#include "rpc/dial.h"

#include <utility>

#include <fmt/format.h>

#include "rpc/attempt.h"
#include "rpc/limits.h"

namespace stet::rpc {

std::string EndpointText(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return endpoint.unix_path;
  const bool six = endpoint.host.contains(':');
  return fmt::format("{}{}{}:{}", six ? "[" : "", endpoint.host, six ? "]" : "", endpoint.port);
}

Async<Result<std::unique_ptr<Channel>>> DialWith(Loop& loop, Endpoint endpoint, CancelToken cancel,
                                                 Limits limits) {
  const Pending<Result<std::unique_ptr<Channel>>> dialed(loop);
  const auto give = [dialed](Result<std::unique_ptr<Channel>> channel) {
    dialed.Set(std::move(channel));
  };
  Timer deadline(loop);
  deadline.Start(limits.dial, [give, text = EndpointText(endpoint)] {
    give(Fail(Code::kTimeout, text + " does not answer"));
  });
  const CancelRegistration registration =
      cancel.OnCancel([give] { give(Fail(Code::kCancelled, "cancelled")); });
  const bool tls = endpoint.tls && endpoint.unix_path.empty();
  auto attempt =
      tls ? DialTls(loop, endpoint, limits, give) : DialPlain(loop, endpoint, limits, give);
  if (!attempt) co_return std::unexpected(std::move(attempt).error());
  co_return co_await dialed;
}

Async<Result<std::unique_ptr<Channel>>> Dial(Loop& loop, Endpoint endpoint, CancelToken cancel) {
  return DialWith(loop, std::move(endpoint), std::move(cancel), Limits());
}

}  // namespace stet::rpc
