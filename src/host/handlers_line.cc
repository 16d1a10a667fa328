// What a host does for the methods of the line that asks: what it hears, what its client does.
#include "host/handler.h"
#include "protocol/ids.h"
#include "protocol/methods.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using protocol::Nothing;

constexpr auto kLineHandlers = HandlersOf(
    protocol::LineMethods(),
    On<method::SessionOffer>([](Asked<method::SessionOffer> asked) -> Async<Result<Nothing>> {
      CO_RETURN_IF_ERROR(asked.line.Offer(asked.params));
      co_return Nothing();
    }),
    On<method::SessionSubscribe>(
        [](Asked<method::SessionSubscribe> asked) -> Async<Result<protocol::Subscribed>> {
          co_return asked.line.Subscribe(asked.params);
        }),
    On<method::SessionUnsubscribe>(
        [](Asked<method::SessionUnsubscribe> asked) -> Async<Result<Nothing>> {
          if (!protocol::IsSessionId(asked.params.session_id))
            co_return Fail(Code::kInvalid, "that cannot name a session");
          asked.line.Forget(asked.params.session_id);
          co_return Nothing();
        }));

}  // namespace

std::span<const Handler> LineHandlers() { return kLineHandlers; }

}  // namespace stet::host
