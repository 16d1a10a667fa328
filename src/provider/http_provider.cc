#include "provider/http_provider.h"

#include <fmt/format.h>

#include "base/secrets.h"
#include "base/text.h"
#include "provider/count_tokens.h"

namespace stet::provider {
namespace {

/// A server may repeat a key in its error, or what else it was sent.
void Scrub(std::string& text, const std::string& key) {
  text = MaskSecrets(Replaced(text, key, "[key]"));
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

Result<WireRequest> HttpProvider::Encode(const Request& request) const {
  return EncodeRequest(access_.model, request);
}

net::HttpRequest HttpProvider::ToSend(const Access& access, const WireRequest& wire) {
  net::HttpRequest request;
  request.url = wire.url;
  request.headers = wire.headers;
  request.body = wire.body;
  request.clocks = access.model.clocks;
  if (!access.key.empty()) request.headers.push_back(KeyHeader(access.model.dialect, access.key));
  return request;
}

Async<AttemptResult> HttpProvider::Try(const Access& access, const WireRequest& wire, Sink& sink,
                                       CancelToken cancel) const {
  const net::HttpRequest request = ToSend(access, wire);
  AttemptResult result =
      co_await RunAttempt(surroundings_, access.model, request, sink, std::move(cancel));
  if (result.reply.failure) Scrub(result.reply.failure->message, access.key);
  co_return result;
}

/// False when cancelled.
Async<bool> HttpProvider::Wait(const Failure& failure, std::chrono::milliseconds wait, int tries,
                               Sink& sink, CancelToken cancel) const {
  const Waiting waiting{.why = fmt::format("{}: {}", FailureName(failure.kind), failure.message),
                        .attempt = tries,
                        .until = surroundings_.clock.Now() + wait.count()};
  sink.On(waiting);
  const Status slept = co_await Sleep(loop_, wait, std::move(cancel));
  co_return slept.has_value();
}

Async<CallResult> HttpProvider::Stream(const Request& request, const WireRequest& wire, Sink& sink,
                                       CancelToken cancel) {
  CallResult call;
  const Access* access = &access_;
  const WireRequest* sent = &wire;
  WireRequest fallback_wire;
  int overloads = 0;
  for (int tries = 1;; ++tries) {
    AttemptResult attempt = co_await Try(*access, *sent, sink, cancel);
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
    if (access == &access_ && overloads >= policy_.overloads_before_fallback &&
        EncodeFallback(request, fallback_wire)) {
      const Switched switched{.from = access_.model.FullName(),
                              .to = fallback_->model.FullName(),
                              .why = fmt::format("{} is overloaded", access_.model.FullName())};
      sink.On(switched);
      access = &*fallback_;
      sent = &fallback_wire;
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

Async<Result<std::int64_t>> HttpProvider::CountTokens(const Request& request, CancelToken cancel) {
  CO_ASSIGN_OR_RETURN(const WireRequest wire, Encode(request));
  CO_ASSIGN_OR_RETURN(const WireRequest count, EncodeCount(access_.model, wire));
  const net::HttpRequest question = ToSend(access_, count);
  Result<std::int64_t> counted = co_await AskCount(surroundings_.http, question, std::move(cancel));
  if (!counted) Scrub(counted.error().message, access_.key);
  co_return counted;
}

/// False when there is none, or it cannot be asked this.
bool HttpProvider::EncodeFallback(const Request& request, WireRequest& out) const {
  if (!fallback_) return false;
  Result<WireRequest> wire = EncodeRequest(fallback_->model, request);
  if (!wire) return false;
  out = *std::move(wire);
  return true;
}

}  // namespace stet::provider
