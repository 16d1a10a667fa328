#include "provider/http_provider.h"

#include <fmt/format.h>

namespace stet::provider {
namespace {

/// Replaces every occurrence: a server may repeat a key in its error.
void Scrub(std::string& text, const std::string& key) {
  if (key.empty()) return;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
    text.replace(at, key.size(), "[key]");
}

AttemptResult Failed(Failure failure) {
  AttemptResult result;
  result.reply.partial = true;
  result.reply.failure = std::move(failure);
  return result;
}

protocol::Attempt Record(const Reply& reply, const Model& answered, const Model& asked) {
  protocol::Attempt attempt;
  attempt.outcome = reply.failure ? std::string(FailureName(reply.failure->kind)) : "done";
  if (answered.FullName() != asked.FullName()) attempt.model = answered.FullName();
  attempt.usage = reply.content.usage;
  if (attempt.usage && !reply.usage_final) attempt.partial = true;
  return attempt;
}

}  // namespace

HttpProvider::HttpProvider(Loop& loop, const Surroundings& surroundings, Access access,
                           std::optional<Access> fallback, const RetryPolicy& policy)
    : loop_(loop),
      surroundings_(surroundings),
      access_(std::move(access)),
      fallback_(std::move(fallback)),
      policy_(policy) {}

Result<std::string> HttpProvider::Body(const Request& request) const {
  ASSIGN_OR_RETURN(WireRequest wire, EncodeRequest(access_.model, request));
  return std::move(wire.body);
}

Task<AttemptResult> HttpProvider::Try(const Access& access, const Request& request, Sink& sink,
                                      CancelToken cancel) const {
  Result<WireRequest> wire = EncodeRequest(access.model, request);
  if (!wire) {
    Failure failure{.kind = FailureKind::kBadRequest, .message = wire.error().Text()};
    co_return Failed(std::move(failure));
  }
  if (!access.key.empty()) wire->headers.push_back(KeyHeader(access.model.dialect, access.key));
  AttemptResult result =
      co_await RunAttempt(surroundings_, access.model, *wire, sink, std::move(cancel));
  if (result.reply.failure) Scrub(result.reply.failure->message, access.key);
  co_return result;
}

/// False when cancelled.
Task<bool> HttpProvider::Wait(const Failure& failure, std::chrono::milliseconds wait, int tries,
                              Sink& sink, CancelToken cancel) const {
  const Waiting waiting{.why = fmt::format("{}: {}", FailureName(failure.kind), failure.message),
                        .attempt = tries,
                        .until = surroundings_.clock.Now() + wait.count()};
  sink.On(waiting);
  const Status slept = co_await Sleep(loop_, wait, std::move(cancel));
  co_return slept.has_value();
}

Task<CallResult> HttpProvider::Stream(const Request& request, Sink& sink, CancelToken cancel) {
  CallResult call;
  const Access* access = &access_;
  int overloads = 0;
  for (int tries = 1;; ++tries) {
    AttemptResult attempt = co_await Try(*access, request, sink, cancel);
    call.attempts.push_back(Record(attempt.reply, access->model, access_.model));
    if (!attempt.limits.empty()) call.limits = std::move(attempt.limits);
    call.reply = std::move(attempt.reply);
    call.model = access->model;
    if (!call.reply.failure) break;
    const Failure failure = *call.reply.failure;
    const std::optional<std::chrono::milliseconds> wait =
        NextTry(policy_, failure, tries, attempt.committed, surroundings_.random);
    if (!wait) break;
    overloads += failure.kind == FailureKind::kOverloaded ? 1 : 0;
    if (fallback_ && access == &access_ && overloads >= policy_.overloads_before_fallback) {
      const Switched switched{.from = access_.model.FullName(),
                              .to = fallback_->model.FullName(),
                              .why = fmt::format("{} is overloaded", access_.model.FullName())};
      sink.On(switched);
      access = &*fallback_;
    } else if (!co_await Wait(failure, *wait, tries, sink, cancel)) {
      Failure cancelled{.kind = FailureKind::kCancelled, .message = "cancelled"};
      call.reply.failure = std::move(cancelled);
      break;
    }
    if (attempt.started) {
      const Restarted restarted{.attempt = tries + 1};
      sink.On(restarted);
    }
  }
  co_return call;
}

}  // namespace stet::provider
