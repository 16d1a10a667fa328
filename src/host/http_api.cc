#include "host/http_api.h"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "host/dispatch.h"
#include "host/event_stream.h"
#include "host/host.h"
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

/// A request of the wire under its HTTP name. "ID" stands for a session's id.
struct Route {
  std::string_view verb;
  std::string_view path;
  std::string_view method;
  int status;
  bool listed = false;  // Its params are in the query.
};

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/status", "host.status", 200},
    {"GET", "/sessions", "sessions.list", 200, true},
    {"POST", "/sessions", "sessions.open", 201},
    {"GET", "/sessions/ID", "session.state", 200},
    {"POST", "/sessions/ID/messages", "session.send", 202},
    {"POST", "/sessions/ID/cancel", "session.cancel", 200},
    {"POST", "/sessions/ID/answers", "session.answer", 200},
    {"GET", "/sessions/ID/events", "session.subscribe", 200},
});

/// The params of a list. kInvalid names what there is not.
Result<std::string> ParamsFrom(std::string_view query) {
  ASSIGN_OR_RETURN(const auto members, rpc::ParseQuery(query));
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject();
  for (const auto& [name, value] : members) {
    if (name == "projectId" || name == "text") {
      writer.Key(name).String(value);
    } else if (name == "limit") {
      std::int64_t limit = 0;
      const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), limit);
      if (problem != std::errc() || end != value.data() + value.size() || limit < 0)
        return Fail(Code::kInvalid, "limit must be a number");
      writer.Key(name).Int(limit);
    } else {
      return Fail(Code::kInvalid,
                  fmt::format("the query knows limit, projectId and text, not {}", name));
    }
  }
  writer.EndObject();
  return params;
}

/// The session's id when `path` is of the route's form; empty when there is none in it.
std::optional<std::string> Match(std::string_view form, std::string_view path) {
  constexpr std::string_view kId = "ID";
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

std::optional<std::string> TokenIn(const HttpRequest& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.Header("authorization");
  if (!header.starts_with(kBearer)) return std::nullopt;
  return std::string(header.substr(kBearer.size()));
}

void StartStream(Host& host, const Caller& caller, const std::string& session_id,
                 const HttpRequest& request, HttpReply& reply) {
  if (!caller.May(protocol::right::kView))
    return Refuse(reply, {Code::kDenied, "this needs the right view"});
  Result<std::shared_ptr<Hosted>> session = host.Find(session_id);
  if (!session) return Refuse(reply, session.error());
  protocol::Subscribe wanted;
  wanted.anchor = AnchorFrom(request.Header("last-event-id"));
  const auto number = host.NewStream();
  auto stream = std::make_shared<EventStream>(*std::move(session),
                                              [&host, number] { host.DropStream(number); });
  if (const Status begun = stream->Start(wanted, reply); !begun)
    return Refuse(reply, begun.error());
  host.KeepStream(number, std::move(stream));
}

Async<void> AnswerOne(Host& host, Caller caller, const Route& route, std::string params,
                      std::unique_ptr<HttpReply> reply) {
  const std::string method(route.method);
  const Result<std::string> result =
      co_await Dispatch(host, std::move(caller), method, std::move(params));
  if (result)
    reply->Send(route.status, kJson, *result + "\n");
  else
    Refuse(*reply, result.error());
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
  caller->client_id = "http";
  bool known = false;
  for (const Route& route : kRoutes) {
    const std::optional<std::string> id = Match(route.path, request.path);
    known = known || id;
    if (!id || route.verb != request.method) continue;
    if (route.method == "session.subscribe")
      return StartStream(host, *caller, *id, request, *reply);
    std::string params = request.body.empty() ? "{}" : std::move(request.body);
    if (route.listed) {
      Result<std::string> read = ParamsFrom(request.query);
      if (!read) return Refuse(*reply, read.error());
      params = *std::move(read);
    }
    if (const Result<Raw> read = Decode<Raw>(params); !read || !params.starts_with('{'))
      return Refuse(*reply, {Code::kInvalid, "the body must be a JSON object"});
    if (!id->empty()) params = protocol::ForSession(*id, params);
    host.loop().Spawn(
        AnswerOne(host, *std::move(caller), route, std::move(params), std::move(reply)));
    return;
  }
  if (known)
    reply->Send(405, kJson, "{\"code\":\"unsupported\",\"message\":\"not by this method\"}\n");
  else
    Refuse(*reply, {Code::kNotFound, "there is nothing at this address"});
}

}  // namespace stet::host
