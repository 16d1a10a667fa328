// Handler: what a host does for one method of the wire, typed by it: params are decoded once, the
// reply is encoded once, both in one place.
//
// A module brings the handlers of a MethodList as one table: HandlersOf(List(), On<M>(work), ...).
// It compiles only when each method of the list has its handler, in the list's order. What `work`
// takes says where it is done:
//
//   (Lane&, const Params&, const Caller&)   on the session's lane, which is woken for it
//   (const config::Roots&, const Params&)   away from the loop: it reads files
//   (const config::Roots&, const Params&, const Caller&)   the same, by the caller's rights
//   (Asked<M>) -> Async<Result<Reply>>      on the loop
//
// It gives a Result<Reply>, or a Status where the reply is Nothing. `work` has no captures.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/async.h"
#include "host/caller.h"
#include "host/host.h"
#include "host/line.h"
#include "protocol/limits.h"
#include "protocol/method.h"
#include "protocol/params.h"
#include "tool/in_thread.h"

namespace stet::host {

/// One request on its way, its params as they came.
struct Call {
  Host& host;
  Caller caller;
  Line& line;  // The caller's; must live until the outcome is there.
  std::string params;
};

/// The same with its params read.
template <protocol::IsMethod M>
struct Asked {
  Host& host;
  Caller caller;
  Line& line;
  typename M::Params params;
};

struct Outcome {
  Result<std::string> reply;  // JSON.
  std::string session_id;     // Which session it was about; empty: none.
};

struct Handler {
  std::string_view name;
  std::string_view right;
  protocol::Errors errors;
  Async<Outcome> (*run)(Call);
};

template <protocol::IsMethod M>
struct HandlerFor {
  Async<Outcome> (*run)(Call);
};

namespace handling {

/// Which session the params name; empty: none.
template <class Params>
std::string SessionIn(const Params& params) {
  if constexpr (requires { std::string(params.session_id); })
    return params.session_id;
  else if constexpr (requires { params.session_id; })
    return params.session_id.value_or("");
  else
    return "";
}

template <class M, class Given>
Result<std::string> ReplyOf(const Given& given) {
  if (!given) return std::unexpected(given.error());
  if constexpr (std::same_as<Given, Status>) {
    static_assert(std::same_as<typename M::Reply, protocol::Nothing>);
    return "{}";
  } else {
    static_assert(std::same_as<Given, Result<typename M::Reply>>);
    return Encode(*given);
  }
}

template <class Work, class Params>
inline constexpr bool kReadsFiles =
    std::invocable<Work, const config::Roots&, const Params&> ||
    std::invocable<Work, const config::Roots&, const Params&, const Caller&>;

template <class M, class Work>
Async<Outcome> Run(Call call) {
  using Params = typename M::Params;
  Result<Params> params = Decode<Params>(call.params);
  if (const Status kept = protocol::CheckLimits(protocol::LimitsOf<Params>(), call.params);
      params && !kept)
    params = std::unexpected(kept.error());
  if (!params)
    co_return Outcome{std::unexpected(std::move(params).error().While("the request's params")), ""};
  std::string session_id = SessionIn(*params);
  if constexpr (std::invocable<Work, lane::Lane&, const Params&, const Caller&>) {
    const Result<std::shared_ptr<Hosted>> session = call.host.Find(session_id);
    if (!session) co_return Outcome{std::unexpected(session.error()), session_id};
    const Result<lane::Lane*> lane = co_await (*session)->Wake();
    if (!lane) co_return Outcome{std::unexpected(lane.error()), session_id};
    co_return Outcome{ReplyOf<M>(Work()(**lane, *params, call.caller)), session_id};
  } else if constexpr (kReadsFiles<Work, Params>) {
    const config::Roots roots = call.host.options().roots;
    const CancelToken never;
    auto body = [roots, params = *std::move(params), caller = call.caller](const CancelToken&) {
      if constexpr (std::invocable<Work, const config::Roots&, const Params&>)
        return ReplyOf<M>(Work()(roots, params));
      else
        return ReplyOf<M>(Work()(roots, params, caller));
    };
    Result<std::string> reply =
        co_await tool::InThread<std::string>(call.host.loop(), never, std::move(body));
    co_return Outcome{std::move(reply), session_id};
  } else {
    Asked<M> asked{call.host, std::move(call.caller), call.line, *std::move(params)};
    const Result<typename M::Reply> reply = co_await Work()(std::move(asked));
    co_return Outcome{ReplyOf<M>(reply), session_id};
  }
}

}  // namespace handling

template <protocol::IsMethod M, class Work>
constexpr HandlerFor<M> On(Work) {
  return {handling::Run<M, Work>};
}

template <class... M>
constexpr std::array<Handler, sizeof...(M)> HandlersOf(
    protocol::MethodList<M...>, std::type_identity_t<HandlerFor<M>>... handlers) {
  return {Handler{M::kInfo.name, M::kInfo.right, M::kInfo.errors, handlers.run}...};
}

// The tables, each in the order of its names.
std::span<const Handler> DeviceHandlers();
std::span<const Handler> SessionHandlers();
std::span<const Handler> TaskHandlers();
std::span<const Handler> StoredHandlers();
std::span<const Handler> LineHandlers();

}  // namespace stet::host
