#include "acp/asks.h"

#include <fmt/format.h>

#include "acp/tool_view.h"
#include "base/json_view.h"
#include "base/json_writer.h"

namespace stet::acp {
namespace {

constexpr std::string_view kBy = "acp";
constexpr std::string_view kAllowOnce = "allow_once";
constexpr std::string_view kAllowSession = "allow_session";
constexpr std::string_view kRejectOnce = "reject_once";
constexpr std::string_view kPermissionMethod = "session/request_permission";
constexpr std::string_view kFormMethod = "elicitation/create";

std::vector<std::string> LabelsOf(const Raw& options) {
  std::vector<std::string> labels;
  JsonView(options.text).ForEach([&](const JsonView& option) {
    labels.push_back(option.is_string() ? option.StringOr("") : option["label"].StringOr(""));
  });
  return labels;
}

void WriteOption(JsonWriter& writer, std::string_view id, std::string_view name,
                 std::string_view kind) {
  writer.BeginObject().Member("optionId", id).Member("name", name).Member("kind", kind);
  writer.EndObject();
}

std::string PlanOptionId(std::size_t number) { return fmt::format("option_{}", number); }

/// The options to pick from, and room for other words.
void WriteChoice(JsonWriter& writer, const Raw& options) {
  writer.Key("choice").BeginObject().Member("type", "string").Member("title", "Your choice");
  writer.Key("oneOf").BeginArray();
  JsonView(options.text).ForEach([&](const JsonView& option) {
    const std::string label =
        option.is_string() ? option.StringOr("") : option["label"].StringOr("");
    const std::string more = option["description"].StringOr("");
    writer.BeginObject().Member("const", label);
    writer.Member("title", more.empty() ? label : fmt::format("{}: {}", label, more)).EndObject();
  });
  writer.EndArray().EndObject();
  writer.Key("answer").BeginObject().Member("type", "string");
  writer.Member("title", "Or in your own words").EndObject();
}

protocol::PermissionAnswer PermissionReply(const std::string& id, const Response& response) {
  protocol::PermissionAnswer answer;
  answer.request_id = id;
  answer.by = kBy;
  answer.scope = "once";
  if (response.error) {
    answer.message = "the client could not ask: " + *response.error;
    return answer;
  }
  const JsonView outcome = JsonView(response.result.text)["outcome"];
  if (outcome["outcome"].StringOr("") == "cancelled") {
    answer.stop = true;
    return answer;
  }
  const std::string option = outcome["optionId"].StringOr("");
  answer.allow = option == kAllowOnce || option == kAllowSession;
  if (option == kAllowSession) answer.scope = "session";
  return answer;
}

protocol::QuestionAnswer Said(const std::string& id, std::string_view text) {
  protocol::QuestionAnswer answer;
  answer.question_id = id;
  answer.by = kBy;
  answer.answer.text.clear();
  AppendJsonString(answer.answer.text, text);
  return answer;
}

protocol::QuestionAnswer PlanReply(const std::string& id, const std::vector<std::string>& labels,
                                   const Response& response) {
  if (response.error) return Declined(id, "the client could not ask: " + *response.error);
  const JsonView outcome = JsonView(response.result.text)["outcome"];
  const std::string option = outcome["optionId"].StringOr("");
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (option == PlanOptionId(i)) return Said(id, labels[i]);
  return Declined(id, "the question was cancelled");
}

protocol::QuestionAnswer FormReply(const std::string& id, const Response& response) {
  if (response.error) return Declined(id, "the client could not ask: " + *response.error);
  const JsonView said(response.result.text);
  if (said["action"].StringOr("") != "accept") return Declined(id, "no answer was given");
  std::string answer = said["content"]["answer"].StringOr("");
  if (answer.empty()) answer = said["content"]["choice"].StringOr("");
  return answer.empty() ? Declined(id, "no answer was given") : Said(id, answer);
}

}  // namespace

std::string SessionOfRequest(std::string_view request_id) {
  const std::size_t slash = request_id.find('/');
  return slash == std::string_view::npos ? "" : std::string(request_id.substr(0, slash));
}

protocol::QuestionAnswer Declined(const std::string& question_id, std::string_view why) {
  protocol::QuestionAnswer answer;
  answer.question_id = question_id;
  answer.by = kBy;
  answer.answer.text.clear();
  JsonWriter(answer.answer.text).BeginObject().Member("declined", why).EndObject();
  return answer;
}

std::optional<std::string> Asks::Begin(Open open) {
  if (!asked_.insert(open.id).second) return std::nullopt;
  std::string id = fmt::format("{}/{}", session_id_, open.id);
  open_.insert_or_assign(id, std::move(open));
  return id;
}

std::optional<std::string> Asks::Ask(const protocol::PermissionAsk& ask, std::string_view call) {
  const std::optional<std::string> id =
      Begin({.as = As::kPermission, .id = ask.request_id, .labels = {}});
  if (!id) return std::nullopt;
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
  return RequestLine(*id, kPermissionMethod, params);
}

std::optional<std::string> Asks::AskPlan(const protocol::QuestionAsk& ask) {
  std::vector<std::string> labels = LabelsOf(ask.options);
  const std::optional<std::string> id =
      Begin({.as = As::kPlan, .id = ask.question_id, .labels = labels});
  if (!id) return std::nullopt;
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id_).Key("toolCall").BeginObject();
  writer.Member("toolCallId", ask.question_id).Member("title", "Carry out this plan?");
  writer.Member("kind", "switch_mode").Member("status", "pending").Key("content").BeginArray();
  WriteTextContent(writer, ask.text);
  writer.EndArray().EndObject().Key("options").BeginArray();
  for (std::size_t i = 0; i < labels.size(); ++i)
    WriteOption(writer, PlanOptionId(i), labels[i], i == 0 ? "allow_once" : "reject_once");
  writer.EndArray().EndObject();
  return RequestLine(*id, kPermissionMethod, params);
}

std::optional<std::string> Asks::AskForm(const protocol::QuestionAsk& ask) {
  const std::optional<std::string> id =
      Begin({.as = As::kForm, .id = ask.question_id, .labels = {}});
  if (!id) return std::nullopt;
  const bool choice = !LabelsOf(ask.options).empty();
  std::string params;
  JsonWriter writer(params);
  writer.BeginObject().Member("sessionId", session_id_).Member("mode", "form");
  writer.Member("message", ask.text).Key("requestedSchema").BeginObject();
  writer.Member("type", "object").Key("properties").BeginObject();
  if (choice) {
    WriteChoice(writer, ask.options);
  } else {
    writer.Key("answer").BeginObject().Member("type", "string").Member("title", "Your answer");
    writer.EndObject();
  }
  writer.EndObject();
  if (!choice) writer.Key("required").Text(R"(["answer"])");
  writer.EndObject().EndObject();
  return RequestLine(*id, kFormMethod, params);
}

std::optional<Answer> Asks::Take(const Response& response) {
  const auto found = open_.find(response.id);
  if (found == open_.end()) return std::nullopt;
  const Open open = std::move(found->second);
  open_.erase(found);
  if (open.as == As::kPermission) return PermissionReply(open.id, response);
  if (open.as == As::kPlan) return PlanReply(open.id, open.labels, response);
  return FormReply(open.id, response);
}

std::optional<std::string> Asks::Withdraw(const std::string& id) {
  const std::string request = fmt::format("{}/{}", session_id_, id);
  if (open_.erase(request) == 0) return std::nullopt;
  std::string params;
  JsonWriter(params).BeginObject().Member("requestId", request).EndObject();
  return NotificationLine("$/cancel_request", params);
}

}  // namespace stet::acp
