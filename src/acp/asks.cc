#include "acp/asks.h"

#include <fmt/format.h>

#include "acp/tool_view.h"
#include "json/view.h"
#include "json/writer.h"

namespace stet::acp {
namespace {

constexpr std::string_view kAllowOnce = "allow_once";
constexpr std::string_view kAllowSession = "allow_session";
constexpr std::string_view kRejectOnce = "reject_once";
constexpr std::string_view kPermissionMethod = "session/request_permission";
constexpr std::string_view kFormMethod = "elicitation/create";

void WriteOption(JsonWriter& writer, std::string_view id, std::string_view name,
                 std::string_view kind) {
  writer.BeginObject().Member("optionId", id).Member("name", name).Member("kind", kind);
  writer.EndObject();
}

std::string PlanOptionId(std::size_t number) { return fmt::format("option_{}", number); }

/// The options to pick from, and room for other words.
void WriteChoice(JsonWriter& writer, const std::vector<protocol::AskOption>& options) {
  writer.Key("choice").BeginObject().Member("type", "string").Member("title", "Your choice");
  writer.Key("oneOf").BeginArray();
  for (const auto& [label, more] : options) {
    writer.BeginObject().Member("const", label);
    writer.Member("title", more.empty() ? label : fmt::format("{}: {}", label, more)).EndObject();
  }
  writer.EndArray().EndObject();
  writer.Key("answer").BeginObject().Member("type", "string");
  writer.Member("title", "Or in your own words").EndObject();
}

std::string NotAsked(const Error& error) { return "the client could not ask: " + error.message; }

protocol::PermissionAnswer PermissionReply(const std::string& id, const Result<Raw>& said) {
  if (!said) return protocol::Deny(id, NotAsked(said.error()));
  const JsonView outcome = JsonView(said->text)["outcome"];
  const std::string option = outcome["optionId"].StringOr("");
  if (option == kAllowSession) return protocol::Allow(id, "session");
  if (option == kAllowOnce) return protocol::Allow(id, "once");
  protocol::PermissionAnswer answer = protocol::Deny(id, "");
  answer.stop = outcome["outcome"].StringOr("") == "cancelled";
  return answer;
}

protocol::QuestionAnswer PlanReply(const std::string& id,
                                   const std::vector<protocol::AskOption>& options,
                                   const Result<Raw>& said) {
  if (!said) return protocol::Decline(id, NotAsked(said.error()));
  const std::string option = JsonView(said->text)["outcome"]["optionId"].StringOr("");
  for (std::size_t i = 0; i < options.size(); ++i)
    if (option == PlanOptionId(i)) return protocol::Say(id, options[i].label);
  return protocol::Decline(id, "the question was cancelled");
}

protocol::QuestionAnswer FormReply(const std::string& id, const Result<Raw>& said) {
  if (!said) return protocol::Decline(id, NotAsked(said.error()));
  const JsonView json(said->text);
  if (json["action"].StringOr("") != "accept") return protocol::Decline(id, "no answer was given");
  std::string answer = json["content"]["answer"].StringOr("");
  if (answer.empty()) answer = json["content"]["choice"].StringOr("");
  return answer.empty() ? protocol::Decline(id, "no answer was given") : protocol::Say(id, answer);
}

}  // namespace

bool Asks::Begin(const std::string& id, Open open) {
  if (!asked_.insert(id).second) return false;
  open_.insert_or_assign(id, std::move(open));
  return true;
}

std::optional<Outgoing> Asks::Ask(const protocol::PermissionAsk& ask, std::string_view call) {
  if (!Begin(ask.request_id, {.as = As::kPermission, .options = {}})) return std::nullopt;
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id_).Key("toolCall").Text(call);
  writer.Key("options").BeginArray();
  WriteOption(writer, kAllowOnce, "Allow", "allow_once");
  if (!ask.session_rule.empty())
    WriteOption(writer, kAllowSession, "Allow in this session: " + ask.session_rule,
                "allow_always");
  WriteOption(writer, kRejectOnce, "Reject", "reject_once");
  writer.EndArray().EndObject();
  return Outgoing{kPermissionMethod, Raw{std::move(params)}};
}

std::optional<Outgoing> Asks::AskPlan(const protocol::QuestionAsk& ask) {
  const std::vector<protocol::AskOption> options = protocol::OptionsOf(ask);
  if (!Begin(ask.question_id, {.as = As::kPlan, .options = options})) return std::nullopt;
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id_).Key("toolCall").BeginObject();
  writer.Member("toolCallId", ask.question_id).Member("title", "Carry out this plan?");
  writer.Member("kind", "switch_mode").Member("status", "pending").Key("content").BeginArray();
  WriteTextContent(writer, ask.text);
  writer.EndArray().EndObject().Key("options").BeginArray();
  for (std::size_t i = 0; i < options.size(); ++i)
    WriteOption(writer, PlanOptionId(i), options[i].label, i == 0 ? "allow_once" : "reject_once");
  writer.EndArray().EndObject();
  return Outgoing{kPermissionMethod, Raw{std::move(params)}};
}

std::optional<Outgoing> Asks::AskForm(const protocol::QuestionAsk& ask) {
  const std::vector<protocol::AskOption> options = protocol::OptionsOf(ask);
  if (!Begin(ask.question_id, {.as = As::kForm, .options = options})) return std::nullopt;
  const bool choice = !options.empty();
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id_).Member("mode", "form");
  writer.Member("message", ask.text).Key("requestedSchema").BeginObject();
  writer.Member("type", "object").Key("properties").BeginObject();
  if (choice) {
    WriteChoice(writer, options);
  } else {
    writer.Key("answer").BeginObject().Member("type", "string").Member("title", "Your answer");
    writer.EndObject();
  }
  writer.EndObject();
  if (!choice) writer.Key("required").Text(R"(["answer"])");
  writer.EndObject().EndObject();
  return Outgoing{kFormMethod, Raw{std::move(params)}};
}

void Asks::Sent(const std::string& id, std::int64_t request) {
  if (const auto found = open_.find(id); found != open_.end()) found->second.request = request;
}

std::optional<protocol::AskAnswer> Asks::Take(const std::string& id, const Result<Raw>& said) {
  const auto found = open_.find(id);
  if (found == open_.end()) return std::nullopt;
  const Open open = std::move(found->second);
  open_.erase(found);
  if (open.as == As::kPermission) return PermissionReply(id, said);
  if (open.as == As::kPlan) return PlanReply(id, open.options, said);
  return FormReply(id, said);
}

std::optional<std::int64_t> Asks::Withdraw(const std::string& id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return std::nullopt;
  const std::int64_t request = found->second.request;
  open_.erase(found);
  return request;
}

std::vector<std::int64_t> Asks::open_requests() const {
  std::vector<std::int64_t> requests;
  for (const auto& [id, open] : open_) requests.push_back(open.request);
  return requests;
}

}  // namespace stet::acp
