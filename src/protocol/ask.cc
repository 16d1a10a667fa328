#include "protocol/ask.h"

#include "json/view.h"
#include "json/writer.h"

namespace stet::protocol {
namespace {

/// What an event does not say is left out: any client can still answer.
PermissionAsk AskOf(const Permission& asked) {
  PermissionAsk ask;
  if (asked.options) {
    if (Result<PermissionAsk> kept = Decode<PermissionAsk>(asked.options->text))
      ask = *std::move(kept);
  }
  ask.request_id = asked.request_id;
  ask.tool_call_id = asked.tool_call_id;
  return ask;
}

QuestionAsk AskOf(const Question& asked) {
  QuestionAsk ask;
  ask.question_id = asked.question_id;
  ask.text = asked.text.value_or("");
  ask.options = asked.options.value_or(Raw{"[]"});
  return ask;
}

}  // namespace

const std::string& AskId(const Ask& ask) {
  if (const auto* permission = std::get_if<PermissionAsk>(&ask)) return permission->request_id;
  return std::get<QuestionAsk>(ask).question_id;
}

std::optional<AskNews> AskNewsIn(const Event& event) {
  if (const auto* permission = std::get_if<Permission>(&event.payload)) {
    AskNews news{.id = permission->request_id, .asked = {}, .by = permission->by.value_or("")};
    if (permission->phase == phase::kAsked) news.asked = AskOf(*permission);
    return news;
  }
  if (const auto* question = std::get_if<Question>(&event.payload)) {
    AskNews news{.id = question->question_id, .asked = {}, .by = question->by.value_or("")};
    if (question->phase == phase::kAsked) news.asked = AskOf(*question);
    return news;
  }
  return std::nullopt;
}

Asks OpenAsks(const LiveState& state) {
  Asks open;
  for (const PermissionAsk& ask : state.asks) open.emplace_back(ask);
  for (const QuestionAsk& ask : state.questions) open.emplace_back(ask);
  return open;
}

std::vector<AskOption> OptionsOf(const QuestionAsk& ask) {
  std::vector<AskOption> options;
  JsonView(ask.options.text).ForEach([&](const JsonView& option) {
    options.push_back(
        {.label = option.is_string() ? option.StringOr("") : option["label"].StringOr(""),
         .description = option["description"].StringOr("")});
  });
  return options;
}

PermissionAnswer Allow(const std::string& request_id, std::string_view scope) {
  PermissionAnswer answer;
  answer.request_id = request_id;
  answer.allow = true;
  answer.scope = scope;
  return answer;
}

PermissionAnswer Deny(const std::string& request_id, std::string_view message) {
  PermissionAnswer answer;
  answer.request_id = request_id;
  answer.scope = "once";
  answer.message = message;
  return answer;
}

QuestionAnswer Say(const std::string& question_id, std::string_view text) {
  QuestionAnswer answer;
  answer.question_id = question_id;
  answer.answer.text.clear();
  AppendJsonString(answer.answer.text, text);
  return answer;
}

QuestionAnswer Decline(const std::string& question_id, std::string_view why) {
  QuestionAnswer answer;
  answer.question_id = question_id;
  answer.answer.text.clear();
  JsonWriter(answer.answer.text).BeginObject().Member("declined", why).EndObject();
  return answer;
}

}  // namespace stet::protocol
