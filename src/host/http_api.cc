#include "host/http_api.h"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "host/connection.h"
#include "host/dispatch.h"
#include "host/event_stream.h"
#include "host/host.h"
#include "host/line.h"
#include "json/writer.h"
#include "protocol/methods.h"
#include "rpc/http_text.h"

namespace stet::host {
namespace {

using rpc::Headers;
using rpc::HttpReply;
using rpc::HttpRequest;

int StatusOf(Code code) {
  switch (code) {
    case Code::kInvalid: return 400;
    case Code::kAuth: return 401;
    case Code::kDenied: return 403;
    case Code::kNotFound: return 404;
    case Code::kConflict:
    case Code::kBusy: return 409;
    case Code::kTooNew:
    case Code::kUnsupported: return 501;
    case Code::kUnavailable: return 503;
    case Code::kTimeout: return 504;
    case Code::kFull: return 507;
    case Code::kCorrupt:
    case Code::kIo:
    case Code::kCancelled: return 500;
  }
  return 500;
}

const Headers kJson = {{"content-type", "application/json"}, {"cache-control", "no-store"}};

void Refuse(HttpReply& reply, const Error& error) {
  reply.Send(StatusOf(error.code), kJson, Encode(protocol::ToWire(error)) + "\n");
}

/// A member of a query as the params' member of that name.
template <class T>
Status WriteMember(JsonWriter& writer, std::string_view name, const std::string& value) {
  if constexpr (std::same_as<T, protocol::OptionalInt>) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc() || end != value.data() + value.size() || number < 0)
      return Fail(Code::kInvalid, fmt::format("{} must be a number", name));
    writer.Key(name).Int(number);
  } else if constexpr (std::same_as<T, protocol::OptionalBool>) {
    if (value != "true" && value != "false")
      return Fail(Code::kInvalid, fmt::format("{} must be true or false", name));
    writer.Key(name).Bool(value == "true");
  } else {
    static_assert(std::same_as<T, protocol::OptionalText> || std::same_as<T, protocol::Text>);
    writer.Key(name).String(value);
  }
  return {};
}

/// The params that a query has. kInvalid names a member that the method does not know.
template <class Params>
Result<std::string> ParamsFrom(std::string_view query) {
  ASSIGN_OR_RETURN(const auto members, rpc::ParseQuery(query));
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject();
  for (const auto& [name, value] : members) {
    Status written = Fail(Code::kInvalid, fmt::format("the query knows no {}", name));
    const auto write = [&]<class S, class T, std::size_t N>(const Field<S, T, N>& field) {
      if (field.name.bare() == name) written = WriteMember<T>(writer, name, value);
    };
    std::apply([&](const auto&... field) { (write(field), ...); }, Params::Fields());
    RETURN_IF_ERROR(written);
  }
  writer.EndObject();
  return params;
}

/// A request of the wire under its HTTP name.
struct Route {
  protocol::HttpName http;
  std::string_view method;
  Result<std::string> (*from_query)(std::string_view query) = nullptr;  // Null: from the body.
};

constexpr std::string_view kId = "{id}";

constexpr std::size_t CountRoutes() {
  std::size_t count = 0;
  protocol::ForEachHostMethod([&]<class M>() { count += M::kInfo.http.path.empty() ? 0 : 1; });
  return count;
}

constexpr auto kRoutes = [] {
  std::array<Route, CountRoutes()> routes;
  std::size_t count = 0;
  protocol::ForEachHostMethod([&]<class M>() {
    constexpr protocol::HttpName kHttp = M::kInfo.http;
    if constexpr (!kHttp.path.empty()) {
      Route& route = routes[count++];
      route.http = kHttp;
      route.method = M::kInfo.name;
      if constexpr (kHttp.verb == "GET" && !kHttp.path.contains(kId) &&
                    !std::same_as<typename M::Params, protocol::Nothing>)
        route.from_query = ParamsFrom<typename M::Params>;
    }
  });
  return routes;
}();

/// The session's id when `path` is of the route's form; empty when there is none in it.
std::optional<std::string> Match(std::string_view form, std::string_view path) {
  const std::size_t at = form.find(kId);
  if (at == std::string_view::npos)
    return form == path ? std::optional<std::string>("") : std::nullopt;
  const std::string_view before = form.substr(0, at);
  const std::string_view after = form.substr(at + kId.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after))
    return std::nullopt;
  const std::string_view id = path.substr(at, path.size() - before.size() - after.size());
  if (id.contains('/')) return std::nullopt;
  return std::string(id);
}

/// The line of one request: hearing a session makes its answer a stream.
class HttpLine final : public Line {
 public:
  HttpLine(Host& host, std::unique_ptr<Admission> admission, std::unique_ptr<HttpReply> reply)
      : host_(host), admission_(std::move(admission)), reply_(std::move(reply)) {}

  Result<protocol::Subscribed> Subscribe(const protocol::Subscribe& wanted) override {
    ASSIGN_OR_RETURN(std::shared_ptr<Hosted> session, host_.Find(wanted.session_id));
    const auto number = host_.NewStream();
    auto stream = std::make_shared<EventStream>(
        std::move(session), [&host = host_, number] { host.DropStream(number); });
    ASSIGN_OR_RETURN(protocol::Subscribed begun, stream->Start(wanted, *reply_));
    stream->EndWith(std::move(admission_));
    host_.KeepStream(number, std::move(stream));
    streams_ = true;
    return begun;
  }
  void Hold(const std::string&) override {}  // It ends with its answer.
  void Forget(const std::string&) override {}
  Status Offer(const protocol::Offer&) override {
    return Fail(Code::kUnsupported, "services are offered over a WebSocket");
  }

  /// Its answer is a stream, and begun.
  [[nodiscard]] bool streams() const { return streams_; }
  HttpReply& reply() { return *reply_; }

 private:
  Host& host_;
  std::unique_ptr<Admission> admission_;  // Until the stream has it.
  std::unique_ptr<HttpReply> reply_;
  bool streams_ = false;
};

/// A request that is let in.
struct Admitted {
  Caller caller;
  std::unique_ptr<Admission> admission;
  std::string params;
};

Async<void> AnswerOne(Host& host, Admitted request, const Route& route,
                      std::unique_ptr<HttpReply> reply) {
  HttpLine line(host, std::move(request.admission), std::move(reply));
  Call call{.host = host,
            .caller = std::move(request.caller),
            .line = line,
            .params = std::move(request.params)};
  const Outcome outcome = co_await Dispatch(route.method, std::move(call));
  if (line.streams()) co_return;
  if (outcome.reply)
    line.reply().Send(route.http.status, kJson, *outcome.reply + "\n");
  else
    Refuse(line.reply(), outcome.reply.error());
}

/// What the request asks with: its query or its body, and what its address and headers say.
Result<std::string> ParamsOf(const Route& route, const std::string& session_id,
                             HttpRequest& request) {
  if (route.from_query != nullptr) return route.from_query(request.query);
  std::string params = request.body.empty() ? "{}" : std::move(request.body);
  if (const Result<Raw> read = Decode<Raw>(params); !read || !params.starts_with('{'))
    return Fail(Code::kInvalid, "the body must be a JSON object");
  if (route.method == protocol::method::SessionSubscribe::kInfo.name) {
    protocol::Subscribe wanted;
    wanted.session_id = session_id;
    wanted.anchor = AnchorFrom(request.Header("last-event-id"));
    return Encode(wanted);
  }
  return session_id.empty() ? params : protocol::ForSession(session_id, params);
}

}  // namespace

void AnswerHttp(Host& host, HttpRequest request, std::unique_ptr<HttpReply> reply) {
  ++host.metrics().requests;
  if (request.path == "/metrics" && request.method == "GET") {
    if (!request.peer.local)
      return Refuse(*reply, {Code::kDenied, "metrics are on the unix socket only"});
    return reply->Send(200, {{"content-type", "text/plain; version=0.0.4"}}, host.MetricsText());
  }
  Result<Caller> caller = Authenticate(host, request.peer, TokenIn(request));
  if (!caller) return Refuse(*reply, caller.error());
  caller->client_id = IdentityOf(*caller, "http");
  bool known = false;
  for (const Route& route : kRoutes) {
    const std::optional<std::string> id = Match(route.http.path, request.path);
    known = known || id;
    if (!id || route.http.verb != request.method) continue;
    Result<std::string> params = ParamsOf(route, *id, request);
    if (!params) return Refuse(*reply, params.error());
    auto admission = std::make_unique<Admission>(host, request.peer, TokenIn(request));
    host.loop().Spawn(AnswerOne(host,
                                {.caller = *std::move(caller),
                                 .admission = std::move(admission),
                                 .params = *std::move(params)},
                                route, std::move(reply)));
    return;
  }
  if (known)
    reply->Send(405, kJson, "{\"code\":\"unsupported\",\"message\":\"not by this method\"}\n");
  else
    Refuse(*reply, {Code::kNotFound, "there is nothing at this address"});
}

}  // namespace stet::host
