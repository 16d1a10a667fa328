#include "agent/model_call.h"

#include <ranges>

#include "agent/request.h"
#include "base/hash.h"
#include "protocol/ids.h"
#include "provider/price.h"
#include "provider/provider.h"

namespace stet::agent {
namespace {

Status Write(log::Log& log, protocol::ModelCall call, const protocol::Stamp& stamp) {
  log::Draft draft{.payload = std::move(call), .id = "", .stamp = stamp};
  std::vector<log::Draft> batch;
  batch.push_back(std::move(draft));
  RETURN_IF_ERROR(log.Append(std::move(batch)));
  return {};
}

protocol::ModelCall MakeStart(const log::Log& log, const provider::Model& model,
                              const provider::Request& request, const provider::WireRequest& wire,
                              const CallPurpose& purpose) {
  protocol::ModelCall start;
  start.call_id = protocol::NewModelCallId(ProcessRandom());
  start.phase = protocol::phase::kStart;
  start.purpose = purpose.purpose;
  start.dialect = std::string(provider::DialectName(model.dialect));
  start.model = model.FullName();
  start.request_hash = FastHashHex(wire.body);
  start.bytes = static_cast<std::int64_t>(wire.body.size());
  if (!purpose.toolset.empty() && !request.tools.empty()) start.toolset = purpose.toolset;
  start.params = ParamsJson(request);
  if (purpose.account != nullptr)
    start.prefix = purpose.account->Begin(purpose.purpose, model, wire, log);
  return start;
}

/// What the model itself reported last: a fallback has a cache of its own.
protocol::OptionalUsage UsageOf(const std::vector<protocol::Attempt>& attempts) {
  for (const protocol::Attempt& attempt : std::views::reverse(attempts)) {
    if (attempt.usage && !attempt.model) return attempt.usage;
  }
  return std::nullopt;
}

}  // namespace

Async<Result<provider::CallResult>> AskModel(log::Log& log, provider::Provider& model,
                                             const provider::Request& request,
                                             const CallPurpose& purpose, provider::Sink& sink,
                                             CancelToken cancel) {
  CO_ASSIGN_OR_RETURN(const provider::WireRequest wire, model.Encode(request));
  const protocol::ModelCall start = MakeStart(log, model.model(), request, wire, purpose);
  CO_RETURN_IF_ERROR(Write(log, start, purpose.stamp));
  provider::CallResult call = co_await model.Stream(request, wire, sink, std::move(cancel));
  if (purpose.account != nullptr) purpose.account->End(purpose.purpose, UsageOf(call.attempts));
  protocol::ModelCall end;
  end.call_id = start.call_id;
  end.phase = protocol::phase::kEnd;
  end.price = provider::PriceOf(call.attempts, model.model(), &call.model);
  end.attempts = call.attempts;
  CO_RETURN_IF_ERROR(Write(log, std::move(end), purpose.stamp));
  co_return call;
}

}  // namespace stet::agent
