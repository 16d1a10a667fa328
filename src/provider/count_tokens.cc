#include "provider/count_tokens.h"

#include <algorithm>
#include <array>
#include <span>

#include "json/view.h"
#include "json/writer.h"
#include "provider/failure.h"

namespace stet::provider {
namespace {

constexpr std::size_t kMaxAnswer = std::size_t{64} << 10;

// What the questions take: servers refuse members that they do not know.
constexpr std::array<std::string_view, 7> kAnthropicMembers = {
    "model", "thinking", "output_config", "system", "tools", "tool_choice", "messages"};
constexpr std::array<std::string_view, 8> kResponsesMembers = {
    "model", "reasoning",           "text",        "instructions",
    "tools", "parallel_tool_calls", "tool_choice", "input"};

std::string Picked(std::string_view body, std::span<const std::string_view> names) {
  std::string picked;
  JsonWriter json(picked);
  json.BeginObject();
  JsonView(body).ForEachMember([&](std::string_view key, const JsonView& value) {
    if (std::ranges::find(names, key) != names.end()) json.Key(key).Text(value.text());
  });
  json.EndObject();
  return picked;
}

/// The whole request, with the name of its model, as one member.
std::string Wrapped(const Model& model, std::string_view body) {
  std::string wrapped;
  JsonWriter json(wrapped);
  json.BeginObject().Key("generateContentRequest").BeginObject();
  json.Member("model", "models/" + model.id);
  JsonView(body).ForEachMember(
      [&](std::string_view key, const JsonView& value) { json.Key(key).Text(value.text()); });
  json.EndObject().EndObject();
  return wrapped;
}

class Answer final : public net::HttpSink {
 public:
  void OnHead(int status, const Headers& headers) override {
    status_ = status;
    headers_ = headers;
  }
  net::Want OnBytes(std::string_view bytes) override {
    body_ += bytes.substr(0, kMaxAnswer - body_.size());
    return body_.size() < kMaxAnswer ? net::Want::kMore : net::Want::kStop;
  }
  void OnStall(std::chrono::milliseconds, std::chrono::milliseconds) override {}

  [[nodiscard]] Result<std::int64_t> Read(const net::HttpEnd& end) const {
    if (end.trouble == net::HttpTrouble::kCancelled) return Fail(Code::kCancelled, "cancelled");
    if (end.trouble != net::HttpTrouble::kNone) return Fail(Code::kUnavailable, end.message);
    if (status_ != net::kStatusOk) {
      const Failure failure = FailureFromResponse(status_, headers_, body_, 0);
      const bool auth = failure.kind == FailureKind::kAuth;
      return Fail(auth ? Code::kAuth : Code::kUnavailable, failure.message);
    }
    const JsonView answer(body_);
    const JsonView count = answer["input_tokens"] ? answer["input_tokens"] : answer["totalTokens"];
    const std::optional<std::int64_t> tokens = count.Int();
    if (!tokens || *tokens < 0)
      return Fail(Code::kUnavailable, "the server did not answer with a count of tokens");
    return *tokens;
  }

 private:
  int status_ = 0;
  Headers headers_;
  std::string body_;
};

}  // namespace

Result<WireRequest> EncodeCount(const Model& model, const WireRequest& wire) {
  WireRequest count{.url = model.base_url, .headers = wire.headers};
  for (auto& [name, value] : count.headers) {
    if (name == "accept") value = "application/json";
  }
  switch (model.dialect) {
    case Dialect::kAnthropicMessages:
      count.url += "/v1/messages/count_tokens";
      count.body = Picked(wire.body, kAnthropicMembers);
      return count;
    case Dialect::kOpenAiResponses:
      count.url += "/responses/input_tokens";
      count.body = Picked(wire.body, kResponsesMembers);
      return count;
    case Dialect::kGoogleGenerativeAi:
      count.url += "/models/" + model.id + ":countTokens";
      count.body = Wrapped(model, wire.body);
      return count;
    case Dialect::kOpenAiCompletions:
    case Dialect::kOffline: break;
  }
  return Fail(Code::kUnsupported, model.FullName() + " has no server that counts tokens");
}

Async<Result<std::int64_t>> AskCount(net::HttpClient& http, const net::HttpRequest& request,
                                     CancelToken cancel) {
  Answer answer;
  const net::HttpEnd end = co_await http.Send(request, answer, std::move(cancel));
  co_return answer.Read(end);
}

}  // namespace stet::provider
