#include "host/dispatch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "log/paths.h"
#include "protocol/ids.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

const Handler* FindHandler(std::string_view method) {
  for (const std::span<const Handler> table :
       {SessionHandlers(), TaskHandlers(), StoredHandlers(), LineHandlers(), DeviceHandlers()}) {
    const auto found = std::ranges::lower_bound(table, method, {}, &Handler::name);
    if (found != table.end() && found->name == method) return &*found;
  }
  return nullptr;
}

/// Notes a request in the session's diagnostics if it changes something or has failed.
void Note(const Handler& handler, const Host& host, const std::string& client_id,
          const Outcome& outcome, std::chrono::steady_clock::time_point began) {
  const Result<std::string>& reply = outcome.reply;
  if (!reply && !(protocol::kAnyErrors | handler.errors).Has(reply.error().code))
    STET_LOG(kWarn, "{} failed with {}, which its table does not have", handler.name,
             CodeName(reply.error().code));
  if (!Diagnostics::Enabled(Level::kInfo) || !protocol::IsSessionId(outcome.session_id)) return;
  if (reply && handler.right == protocol::right::kView) return;
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - began);
  const Result<std::string> dir =
      store::SessionStore(host.options().roots).Find(outcome.session_id);
  if (!dir) return;
  STET_LOG_IN(log::Paths{*dir}.diagnostics(), kInfo,
              "request method={} client={} ms={} code={} error=\"{}\"", handler.name, client_id,
              took.count(), reply ? "ok" : CodeName(reply.error().code),
              reply ? "" : reply.error().message);
}

}  // namespace

Async<Outcome> Dispatch(std::string_view method, Call call) {
  const Handler* const handler = FindHandler(method);
  if (handler == nullptr)
    co_return Outcome{Fail(Code::kUnsupported, fmt::format("there is no method {}", method)), ""};
  if (!call.caller.May(handler->right))
    co_return Outcome{
        Fail(Code::kDenied, fmt::format("{} needs the right {}", method, handler->right)), ""};
  const auto began = SystemClock().Steady();
  const Host& host = call.host;
  const std::string client_id = call.caller.client_id;
  Outcome outcome = co_await handler->run(std::move(call));
  Note(*handler, host, client_id, outcome, began);
  co_return outcome;
}

}  // namespace stet::host
