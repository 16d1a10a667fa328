#include "emulator/emulator.h"

#include <set>

#include <fmt/format.h>

#include "emulator/http.h"
#include "emulator/model_service.h"
#include "emulator/plan.h"
#include "emulator/playbook.h"
#include "emulator/prompt_cache.h"
#include "emulator/server.h"
#include "json/view.h"
#include "json/writer.h"

namespace stet::emulator {
namespace {

std::string ErrorAnswer(int status, std::string_view message) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("error").BeginObject().Member("type", "emulator_error");
  json.Member("message", message).EndObject().EndObject();
  return HttpAnswer(status, kJson, body);
}

std::set<std::string> ModelNames(const Script& script) {
  std::set<std::string> names{"emulator"};
  for (const Reply& reply : script.replies) {
    if (reply.when.model) names.insert(*reply.when.model);
    if (!reply.model.empty()) names.insert(reply.model);
  }
  return names;
}

/// Serves clients of Anthropic and OpenAI alike: each finds its members.
std::string ModelList(const Script& script) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Member("object", "list").Member("has_more", false).Key("data").BeginArray();
  for (const std::string& name : ModelNames(script)) {
    json.BeginObject().Member("id", name).Member("type", "model").Member("display_name", name);
    json.Member("created_at", "2026-01-01T00:00:00Z").Member("object", "model");
    json.Member("created", 1'767'225'600).Member("owned_by", "emulator").EndObject();
  }
  json.EndArray().EndObject();
  return body;
}

std::string GoogleModelList(const Script& script) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("models").BeginArray();
  for (const std::string& name : ModelNames(script)) {
    json.BeginObject().Member("name", "models/" + name).Member("displayName", name);
    json.Key("supportedGenerationMethods").BeginArray().String("generateContent").EndArray();
    json.EndObject();
  }
  json.EndArray().EndObject();
  return body;
}

}  // namespace

class Emulator::Impl {
 public:
  Impl(Script script, std::unique_ptr<Ledger> ledger, RequestSchemas schemas)
      : playbook_(std::move(script)),
        ledger_(std::move(ledger)),
        models_(playbook_, *ledger_, cache_, std::move(schemas)) {}

  Status Listen(std::uint16_t port) {
    ASSIGN_OR_RETURN(
        server_, Server::Start(port, [this](const Connection& connection) { Serve(connection); }));
    return {};
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] Ledger& ledger() const { return *ledger_; }

  Status SetScript(std::string_view text) {
    ASSIGN_OR_RETURN(Script script, ParseScript(text));
    playbook_.Set(std::move(script));
    ledger_->Clear();
    cache_.Clear();
    return {};
  }

  void MoveClock(Millis forward) { cache_.MoveClock(forward); }

 private:
  void Serve(const Connection& connection) {
    HttpReader reader(connection.fd());
    while (true) {
      const Result<HttpRequest> request = reader.Next();
      if (!request) return Refuse(connection, request.error());
      if (!Answer(connection, *request)) return;
      if (!request->keep_alive) return connection.Finish();
    }
  }

  static void Refuse(const Connection& connection, const Error& error) {
    if (error.code == Code::kCancelled) return;
    const int status = error.code == Code::kFull ? 413 : 400;
    // What the client did not take is its own matter.
    (void)connection.Write(ErrorAnswer(status, error.message));
    connection.Finish();
  }

  /// False when the connection is to be closed.
  bool Answer(const Connection& connection, const HttpRequest& request) {
    if (request.method == "POST") {
      if (const std::optional<Dialect> dialect = DialectAt(request.path())) {
        return models_.Answer(connection, request, *dialect);
      }
    }
    const std::string answer = PlainAnswer(request);
    return connection.Write(answer) == answer.size();
  }

  std::string PlainAnswer(const HttpRequest& request) {
    const std::string_view path = request.path();
    if (request.method == "GET") {
      if (path == "/emulator/requests") {
        return HttpAnswer(200, kJson, Encode(ledger_->Requests()));
      }
      if (path == "/emulator/stats") return HttpAnswer(200, kJson, Encode(ledger_->stats()));
      if (path.ends_with("/v1beta/models")) {
        return HttpAnswer(200, kJson, GoogleModelList(*playbook_.script()));
      }
      if (path.ends_with("/models")) {
        return HttpAnswer(200, kJson, ModelList(*playbook_.script()));
      }
    }
    if (request.method == "POST") {
      if (std::string counted = Count(path, request.body); !counted.empty()) return counted;
      if (path == "/emulator/clock") return AnswerClock(request.body);
      if (path == "/emulator/script") {
        const Status set = SetScript(request.body);
        return set ? HttpAnswer(200, kJson, "{}") : ErrorAnswer(400, set.error().Text());
      }
    }
    return ErrorAnswer(404, fmt::format("the emulator has nothing at {} {}", request.method, path));
  }

  std::string AnswerClock(std::string_view body) {
    constexpr Millis kMost = 1'000'000'000'000;
    const std::int64_t forward = JsonView(body)["forwardMs"].IntOr(-1);
    if (forward < 0 || forward > kMost)
      return ErrorAnswer(400, "the clock is moved by {\"forwardMs\":N}");
    MoveClock(forward);
    return HttpAnswer(200, kJson, "{}");
  }

  /// Empty when nothing is counted at `path`.
  static std::string Count(std::string_view path, std::string_view body) {
    const auto counted = [&](Dialect dialect, std::string_view request, std::string_view answer) {
      if (!CheckJson(body)) return ErrorAnswer(400, "the emulator was sent a body that is no JSON");
      return HttpAnswer(200, kJson,
                        fmt::format("{{{}{}}}", answer, ReadPrompt(dialect, "", request).count()));
    };
    if (path.ends_with("/v1/messages/count_tokens"))
      return counted(Dialect::kAnthropicMessages, body, R"("input_tokens":)");
    if (path.ends_with("/responses/input_tokens"))
      return counted(Dialect::kOpenAiResponses, body,
                     R"("object":"response.input_tokens","input_tokens":)");
    if (!path.ends_with(":countTokens")) return "";
    const JsonView whole = JsonView(body)["generateContentRequest"];
    return counted(Dialect::kGoogleGenerativeAi, whole ? whole.text() : body, R"("totalTokens":)");
  }

  Playbook playbook_;
  std::unique_ptr<Ledger> ledger_;
  PromptCache cache_;
  ModelService models_;
  std::unique_ptr<Server> server_;  // Last: its threads use all of the above.
};

Emulator::Emulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Emulator::~Emulator() = default;

Result<std::unique_ptr<Emulator>> Emulator::Start(std::string_view script, const Options& options) {
  ASSIGN_OR_RETURN(Script parsed, ParseScript(script));
  ASSIGN_OR_RETURN(std::unique_ptr<Ledger> ledger, Ledger::Open(options.record));
  RequestSchemas schemas;
  if (!options.schemas.empty()) {
    ASSIGN_OR_RETURN(schemas, LoadSchemas(options.schemas));
  }
  auto impl = std::make_unique<Impl>(std::move(parsed), std::move(ledger), std::move(schemas));
  RETURN_IF_ERROR(impl->Listen(options.port));
  return std::unique_ptr<Emulator>(new Emulator(std::move(impl)));
}

std::uint16_t Emulator::port() const { return impl_->port(); }

std::string Emulator::base_url() const { return fmt::format("http://127.0.0.1:{}", port()); }

std::vector<RequestRecord> Emulator::Requests() const { return impl_->ledger().Requests(); }

Stats Emulator::stats() const { return impl_->ledger().stats(); }

Status Emulator::SetScript(std::string_view script) { return impl_->SetScript(script); }

void Emulator::MoveClock(Millis forward) { impl_->MoveClock(forward); }

}  // namespace stet::emulator
