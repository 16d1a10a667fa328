#include "sdk/asks.h"

#include "json/tree.h"
#include "json/view.h"
#include "json/writer.h"

namespace stet::sdk {
namespace {

/// `Tool` or `Tool(content)`, cut in two.
struct RuleParts {
  std::string_view tool;
  std::string_view content;
};

RuleParts PartsOf(std::string_view rule) {
  const std::size_t open = rule.find('(');
  if (open == std::string_view::npos || !rule.ends_with(')')) return {rule, ""};
  return {rule.substr(0, open), rule.substr(open + 1, rule.size() - open - 2)};
}

bool SameValue(std::string_view a, std::string_view b) {
  const Result<JsonTree> left = ParseTree(a);
  const Result<JsonTree> right = ParseTree(b);
  return left && right && SameJson(*left, *right);
}

/// Whether `update` allows for the session at least what we would: our own suggestion, or the whole
/// tool. A narrower rule than ours allows this call only. Of an `edited` call the host grants a
/// rule of its own, which our suggestion does not cover.
bool Grants(const JsonView& update, const protocol::PermissionAsk& ask, bool edited) {
  if (update["type"].StringOr("") != "addRules" || update["behavior"].StringOr("") != "allow" ||
      update["destination"].StringOr("") != "session")
    return false;
  const RuleParts ours = PartsOf(ask.session_rule);
  bool grants = false;
  update["rules"].ForEach([&](const JsonView& rule) {
    const std::string content = rule["ruleContent"].StringOr("");
    if (rule["toolName"].StringOr("") == ours.tool &&
        (content.empty() || (!edited && content == ours.content)))
      grants = true;
  });
  return grants;
}

AskReply PermissionReply(const protocol::PermissionAsk& ask, const JsonView& said) {
  AskReply reply;
  const bool allow = said["behavior"].StringOr("") == "allow";
  protocol::PermissionAnswer answer =
      allow ? protocol::Allow(ask.request_id, "once")
            : protocol::Deny(ask.request_id, said["message"].StringOr(""));
  if (allow) {
    const JsonView input = said["updatedInput"];
    if (input.is_object() && !SameValue(input.text(), ask.args.text))
      answer.args = Raw{std::string(input.text())};
    said["updatedPermissions"].ForEach([&](const JsonView& update) {
      if (!ask.session_rule.empty() && Grants(update, ask, answer.args.has_value()))
        answer.scope = "session";
      if (update["type"].StringOr("") == "setMode") reply.mode = update["mode"].String();
    });
  } else {
    answer.stop = said["interrupt"].Bool().value_or(false);
  }
  reply.answer = std::move(answer);
  return reply;
}

AskReply QuestionReply(const protocol::QuestionAsk& ask, const JsonView& said) {
  AskReply reply;
  const JsonView given = said["updatedInput"]["answer"];
  if (said["behavior"].StringOr("") == "allow" && given) {
    protocol::QuestionAnswer answer;
    answer.question_id = ask.question_id;
    answer.answer.text = given.text();
    reply.answer = std::move(answer);
    return reply;
  }
  reply.answer =
      protocol::Decline(ask.question_id, said["message"].StringOr("no answer was given"));
  reply.stop = said["interrupt"].Bool().value_or(false);
  return reply;
}

void BeginRequest(JsonWriter& writer, std::string_view id, std::string_view tool) {
  writer.BeginObject().Member("type", "control_request").Member("request_id", id);
  writer.Key("request").BeginObject().Member("subtype", "can_use_tool").Member("tool_name", tool);
}

void Suggest(JsonWriter& writer, std::string_view rule) {
  const RuleParts parts = PartsOf(rule);
  writer.Key("permission_suggestions").BeginArray();
  if (!rule.empty()) {
    writer.BeginObject().Member("type", "addRules").Key("rules").BeginArray().BeginObject();
    writer.Member("toolName", parts.tool);
    if (!parts.content.empty()) writer.Member("ruleContent", parts.content);
    writer.EndObject().EndArray().Member("behavior", "allow").Member("destination", "session");
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteAsk(JsonWriter& writer, const protocol::PermissionAsk& ask) {
  BeginRequest(writer, ask.request_id, ask.tool);
  writer.Member("input", ask.args).Member("tool_use_id", ask.tool_call_id);
  Suggest(writer, ask.session_rule);
  writer.Member("description", ask.summary).Member("decision_reason", ask.reason);
}

void WriteAsk(JsonWriter& writer, const protocol::QuestionAsk& ask) {
  BeginRequest(writer, ask.question_id, "AskUser");
  writer.Key("input").BeginObject().Member("question", ask.text).Member("options", ask.options);
  writer.EndObject().Member("tool_use_id", ask.question_id);
  Suggest(writer, "");
  writer.Member("description", ask.text).Member("requires_user_interaction", true);
}

}  // namespace

std::optional<std::string> StreamAsks::Ask(const protocol::Ask& ask) {
  const std::string& id = protocol::AskId(ask);
  if (!asked_.insert(id).second) return std::nullopt;
  open_.insert_or_assign(id, ask);
  std::string line;
  JsonWriter writer(line);
  std::visit([&](const auto& one) { WriteAsk(writer, one); }, ask);
  writer.EndObject().EndObject();
  return line;
}

std::optional<std::string> StreamAsks::Withdraw(const std::string& id) {
  if (open_.erase(id) == 0) return std::nullopt;
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "control_cancel_request").Member("request_id", id);
  writer.EndObject();
  return line;
}

std::optional<std::string> StreamAsks::first_open() const {
  if (open_.empty()) return std::nullopt;
  return open_.begin()->first;
}

std::optional<AskReply> StreamAsks::Answer(const ControlResponse& response) {
  const auto found = open_.find(response.id);
  if (found == open_.end()) return std::nullopt;
  const protocol::Ask asked = std::move(found->second);
  open_.erase(found);
  Raw said = response.response;
  if (response.error) {
    said.text.clear();
    JsonWriter(said.text).BeginObject().Member("message", *response.error).EndObject();
  }
  const JsonView json(said.text);
  if (const auto* permission = std::get_if<protocol::PermissionAsk>(&asked))
    return PermissionReply(*permission, json);
  return QuestionReply(std::get<protocol::QuestionAsk>(asked), json);
}

}  // namespace stet::sdk
