#include "emulator/model_service.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fs.h"
#include "json/writer.h"

namespace stet::emulator {
namespace {

std::int64_t SteadyMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             SystemClock().Steady().time_since_epoch())
      .count();
}

void NoteEnd(RequestRecord& record) {
  record.end_ms = SystemClock().Now();
  record.end_us = SteadyMicros();
}

constexpr std::array<std::string_view, 3> kSecretHeaders = {"authorization", "x-api-key",
                                                            "x-goog-api-key"};
constexpr std::int64_t kBytesPerToken = 4;

/// Names in lower case, those of one name joined, secrets replaced.
Raw HeadersAsJson(const Headers& headers) {
  std::vector<std::pair<std::string_view, std::string>> joined;
  for (const auto& [name, value] : headers) {
    const bool secret = std::ranges::find(kSecretHeaders, name) != kSecretHeaders.end();
    const std::string shown = secret ? "present" : value;
    const auto same = std::ranges::find(joined, name, [](const auto& one) { return one.first; });
    if (same == joined.end())
      joined.emplace_back(name, shown);
    else
      (same->second += ", ") += shown;
  }
  Raw raw{""};
  JsonWriter json(raw.text);
  json.BeginObject();
  for (const auto& [name, value] : joined) json.Member(name, value);
  json.EndObject();
  return raw;
}

Raw BodyAsJson(const std::string& body) {
  if (Result<Raw> raw = Raw::From(body)) return *std::move(raw);
  Raw text{""};
  AppendJsonString(text.text, body);
  return text;
}

/// A key in the query is as secret as one in a header.
std::string WithoutKey(std::string target) {
  for (const std::string_view mark : {"?key=", "&key="}) {
    const std::size_t at = target.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t start = at + mark.size();
    target.replace(start, std::min(target.find('&', start), target.size()) - start, "present");
  }
  return target;
}

RequestRecord RecordOf(const HttpRequest& request, Dialect dialect) {
  RequestRecord record;
  // First: the time that the emulator takes to read a request is not the program's.
  record.received_us = SteadyMicros();
  record.received_ms = SystemClock().Now();
  record.dialect = DialectName(dialect);
  record.path = WithoutKey(request.target);
  record.headers = HeadersAsJson(request.headers);
  record.body = BodyAsJson(request.body);
  return record;
}

std::int64_t ContentBytes(const Reply& reply) {
  std::size_t bytes = 0;
  for (const Block& block : reply.blocks) {
    if (const auto* text = std::get_if<TextBlock>(&block)) bytes += text->text.size();
    if (const auto* thinking = std::get_if<ThinkingBlock>(&block)) bytes += thinking->text.size();
    if (const auto* call = std::get_if<CallBlock>(&block)) {
      bytes += call->name.size() + call->args.size();
    }
  }
  return static_cast<std::int64_t>(bytes);
}

Usage UsageOf(const Reply& reply, std::size_t request_bytes) {
  if (reply.usage) return *reply.usage;
  Usage usage;
  usage.input = static_cast<std::int64_t>(request_bytes) / kBytesPerToken;
  usage.output = ContentBytes(reply) / kBytesPerToken;
  return usage;
}

Exchange ExchangeOf(const RequestFacts& facts, std::int64_t number) {
  return {.dialect = facts.dialect,
          .number = number,
          .model = facts.model,
          .include_usage = facts.include_usage,
          .stop_sequence = facts.stop_sequence};
}

/// Whether the model read the request: an answer that fails at once comes before that.
bool WasRead(const Reply& reply) {
  using Kind = Fault::Kind;
  if (!reply.fault) return true;
  const Fault& fault = *reply.fault;
  switch (fault.kind) {
    case Kind::kStatus:
    case Kind::kOverload:
    case Kind::kHalfOpen:
    case Kind::kContentType:
    case Kind::kJsonError200: return false;
    case Kind::kReset:
    case Kind::kClose:
    case Kind::kStall: return fault.after_events > 0 || fault.after_bytes.value_or(0) > 0;
    default: return true;
  }
}

WireError Overflow(Dialect dialect, std::int64_t tokens, std::int64_t window) {
  WireError error{.status = 400};
  switch (dialect) {
    case Dialect::kAnthropicMessages:
      error.message = fmt::format("prompt is too long: {} tokens > {} maximum", tokens, window);
      break;
    case Dialect::kOpenAiCompletions:
      error.code = "context_length_exceeded";
      error.message = fmt::format(
          "This model's maximum context length is {} tokens. However, your messages resulted in {} "
          "tokens. Please reduce the length of the messages.",
          window, tokens);
      break;
    case Dialect::kOpenAiResponses:
      error.code = "context_length_exceeded";
      error.message =
          "Your input exceeds the context window of this model. Please adjust your input and try "
          "again.";
      break;
    case Dialect::kGoogleGenerativeAi:
      error.message = fmt::format(
          "The input token count ({}) exceeds the maximum number of tokens allowed ({}).", tokens,
          window);
      break;
  }
  return error;
}

struct Sent {
  std::size_t bytes = 0;
  std::optional<Millis> first_byte_ms;
  bool all = false;
};

/// Writes a plan's bytes in its pieces; `before_last` is called before the last of them.
template <class BeforeLast>
Sent SendBytes(const Connection& connection, const Plan& plan, BeforeLast before_last) {
  Sent sent;
  if (plan.first_byte_ms > 0 && !connection.Pause(plan.first_byte_ms)) return sent;
  const std::string_view bytes = plan.bytes;
  for (const std::size_t end : plan.ends) {
    if (sent.bytes > 0 && plan.pause_ms > 0 && !connection.Pause(plan.pause_ms)) return sent;
    if (end == bytes.size()) before_last();
    const std::size_t before = sent.bytes;
    sent.bytes += connection.Write(bytes.substr(before, end - before));
    if (before == 0 && sent.bytes > 0) sent.first_byte_ms = SystemClock().Now();
    if (sent.bytes != end) return sent;
  }
  sent.all = true;
  return sent;
}

}  // namespace

Result<RequestSchemas> LoadSchemas(const std::string& folder) {
  RequestSchemas schemas;
  bool any = false;
  for (std::size_t i = 0; i < kDialects; ++i) {
    const std::string path =
        fmt::format("{}/{}.json", folder, DialectName(static_cast<Dialect>(i)));
    if (!Exists(path)) continue;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    Result<JsonSchema> schema = JsonSchema::Parse(text);
    if (!schema) return std::unexpected(std::move(schema).error().While(path));
    schemas[i] = *std::move(schema);
    any = true;
  }
  if (!any) return Fail(Code::kNotFound, fmt::format("{} has no schema of a dialect", folder));
  return schemas;
}

std::string ModelService::CheckSchema(const HttpRequest& request, Dialect dialect,
                                      const Ledger::Handle& entry) {
  const std::optional<JsonSchema>& schema = schemas_[static_cast<std::size_t>(dialect)];
  if (!schema) return "";
  const std::vector<SchemaError> errors = schema->Validate(request.body);
  if (errors.empty()) return "";
  SchemaProblems problems;
  std::string sentence = "the request does not fit the schema";
  for (const SchemaError& error : errors) {
    problems.push_back({.path = error.path, .message = error.message});
    sentence += fmt::format("; {}: {}", error.path, error.message);
  }
  ledger_.Note(entry, [&](RequestRecord& record) { record.schema_errors = std::move(problems); });
  return playbook_.script()->strict ? sentence : "";
}

std::optional<WireError> ModelService::CheckPrompt(const Script& script, const RequestFacts& facts,
                                                   const Prompt& prompt) {
  constexpr auto kMaxMarks = 4;
  const auto marks = std::ranges::count(prompt.blocks, true, &Prompt::Block::mark);
  if (marks > kMaxMarks) {
    return WireError{.status = 400,
                     .message = fmt::format(
                         "A maximum of {} blocks with cache_control may be provided. Found {}.",
                         kMaxMarks, marks)};
  }
  if (script.window && prompt.count() > *script.window)
    return Overflow(facts.dialect, prompt.count(), *script.window);
  return std::nullopt;
}

Plan ModelService::PlanFor(const HttpRequest& request, const RequestFacts& facts,
                           const Ledger::Handle& entry, Usage& usage) {
  const std::int64_t number = Ledger::NumberOf(entry);
  Exchange exchange = ExchangeOf(facts, number);
  const auto refuse = [&](std::string message) {
    return MakeErrorPlan(exchange, {.status = 400, .message = std::move(message)});
  };
  if (!CheckJson(request.body)) return refuse("the emulator was sent a body that is no JSON");
  if (!facts.stream) {
    return refuse("the emulator only streams: set \"stream\", or alt=sse for Google");
  }
  if (std::string problem = CheckSchema(request, facts.dialect, entry); !problem.empty()) {
    return refuse(std::move(problem));
  }
  const std::shared_ptr<const Script> script = playbook_.script();
  Prompt prompt;
  if (script->window || script->cache) {
    prompt = ReadPrompt(facts.dialect, facts.model, request.body);
    if (const auto problem = CheckPrompt(*script, facts, prompt))
      return MakeErrorPlan(exchange, *problem);
  }
  const Playbook::Choice choice = playbook_.Choose(facts, number);
  if (choice.reply == nullptr) {
    return refuse(
        fmt::format("the emulator's script has no reply for request {}{}", number, choice.why_not));
  }
  ledger_.Note(entry, [&](RequestRecord& record) { record.reply = choice.number; });
  if (!choice.reply->model.empty()) exchange.model = choice.reply->model;
  usage = UsageOf(*choice.reply, request.body.size());
  if (script->cache) {
    const Usage said = usage;
    usage = cache_.Charge(facts.dialect, prompt, *script->cache, WasRead(*choice.reply));
    usage.output = said.output;
    usage.reasoning = said.reasoning;
  }
  exchange.usage = usage;
  return MakePlan(exchange, *choice.reply);
}

bool ModelService::Answer(const Connection& connection, const HttpRequest& request,
                          Dialect dialect) {
  const Ledger::Handle entry = ledger_.Begin(RecordOf(request, dialect));
  const RequestFacts facts = ReadFacts(dialect, request.target, request.body);
  Usage usage;
  const Plan plan = PlanFor(request, facts, entry, usage);
  return Send(connection, plan, entry, usage);
}

bool ModelService::Send(const Connection& connection, const Plan& plan, const Ledger::Handle& entry,
                        const Usage& usage) {
  const bool hold = plan.after == Plan::After::kHold;
  const Sent sent = SendBytes(connection, plan, [&] {
    if (!hold) ledger_.Finishing(entry);
  });
  const bool gone = !sent.all;
  ledger_.Note(entry, [&](RequestRecord& record) {
    record.bytes_sent = static_cast<std::int64_t>(sent.bytes);
    record.first_byte_ms = sent.first_byte_ms;
    record.outcome = gone ? "client_gone" : plan.outcome;
    if (!gone && plan.complete) record.usage = usage;
    if (!hold || gone) NoteEnd(record);
  });
  if (hold && !gone) {
    connection.AwaitClient();
    ledger_.Note(entry, NoteEnd);
  }
  if (plan.after == Plan::After::kReset) connection.ResetOnClose();
  ledger_.End(entry);
  if (plan.after == Plan::After::kClose && !gone) connection.Finish();
  return plan.after == Plan::After::kKeep && !gone;
}

}  // namespace stet::emulator
