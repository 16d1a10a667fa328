#include "acp/asks.h"

#include <gtest/gtest.h>

#include "base/json_view.h"

namespace stet::acp {
namespace {

protocol::PermissionAsk Permission() {
  protocol::PermissionAsk ask;
  ask.request_id = "r1";
  ask.tool_call_id = "t1";
  ask.session_rule = "Bash(make *)";
  return ask;
}

protocol::QuestionAsk Question(std::string options) {
  protocol::QuestionAsk ask;
  ask.question_id = "q1";
  ask.text = "Which?";
  ask.options = Raw{std::move(options)};
  return ask;
}

Response Said(std::string id, std::string result) {
  return {.id = std::move(id), .result = Raw{std::move(result)}, .error = {}};
}

std::string Answered(const std::optional<Answer>& answer) {
  return answer ? std::get<protocol::QuestionAnswer>(*answer).answer.text : "nothing";
}

TEST(AsksTest, APermissionOffersWhatThereIsAndTheOptionSaysHowFarItGoes) {
  for (const auto& [outcome, allow, scope, stop] :
       {std::tuple{R"({"outcome":"selected","optionId":"allow_once"})", true, "once", false},
        {R"({"outcome":"selected","optionId":"allow_session"})", true, "session", false},
        {R"({"outcome":"selected","optionId":"reject_once"})", false, "once", false},
        {R"({"outcome":"selected","optionId":"what"})", false, "once", false},
        {R"({"outcome":"cancelled"})", false, "once", true},
        {"7", false, "once", false}}) {
    Asks asks("s");
    const std::optional<std::string> line = asks.Ask(Permission(), R"({"toolCallId":"t1"})");
    ASSERT_TRUE(line);
    EXPECT_EQ(
        JsonView(*line)["params"]["options"].text(),
        R"([{"optionId":"allow_once","name":"Allow","kind":"allow_once"},)"
        R"x({"optionId":"allow_session","name":"Allow in this session: Bash(make *)","kind":"allow_always"},)x"
        R"({"optionId":"reject_once","name":"Reject","kind":"reject_once"}])");
    EXPECT_FALSE(asks.Ask(Permission(), "{}")) << "asked twice";
    const std::string result = std::string(R"({"outcome":)") + outcome + "}";
    const std::optional<Answer> answer = asks.Take(Said("s/r1", result));
    ASSERT_TRUE(answer);
    const auto& said = std::get<protocol::PermissionAnswer>(*answer);
    EXPECT_EQ(said.request_id, "r1");
    EXPECT_EQ(said.allow, allow) << outcome;
    EXPECT_EQ(said.scope, scope) << outcome;
    EXPECT_EQ(said.stop, stop) << outcome;
    EXPECT_FALSE(asks.Take(Said("s/r1", result))) << "answered twice";
  }
}

TEST(AsksTest, AnErrorIsANoThatSaysWhy) {
  Asks asks("s");
  asks.Ask(Permission(), "{}");
  const std::optional<Answer> answer =
      asks.Take({.id = "s/r1", .result = {}, .error = "no such method"});
  ASSERT_TRUE(answer);
  const auto& said = std::get<protocol::PermissionAnswer>(*answer);
  EXPECT_FALSE(said.allow);
  EXPECT_EQ(said.message, "the client could not ask: no such method");
}

TEST(AsksTest, AQuestionIsAFormAndOwnWordsGoBeforeAChoice) {
  const std::string options = R"([{"label":"A","description":"first"},"B"])";
  for (const auto& [result, answer] :
       {std::pair{R"({"action":"accept","content":{"choice":"A"}})", "\"A\""},
        {R"({"action":"accept","content":{"choice":"A","answer":"neither"}})", "\"neither\""},
        {R"({"action":"accept","content":{}})", R"({"declined":"no answer was given"})"},
        {R"({"action":"decline"})", R"({"declined":"no answer was given"})"},
        {"[]", R"({"declined":"no answer was given"})"}}) {
    Asks asks("s");
    const std::optional<std::string> line = asks.AskForm(Question(options));
    ASSERT_TRUE(line);
    const JsonView schema = JsonView(*line)["params"]["requestedSchema"];
    EXPECT_EQ(schema["properties"]["choice"]["oneOf"].text(),
              R"([{"const":"A","title":"A: first"},{"const":"B","title":"B"}])");
    EXPECT_EQ(Answered(asks.Take(Said("s/q1", result))), answer);
  }
  Asks asks("s");
  EXPECT_EQ(JsonView(*asks.AskForm(Question("[]")))["params"]["requestedSchema"]["required"].text(),
            R"(["answer"])");
}

TEST(AsksTest, APlanIsPermittedByItsFirstOption) {
  Asks asks("s");
  const std::string options = R"([{"label":"Approve"},{"label":"Keep planning"}])";
  const std::optional<std::string> line = asks.AskPlan(Question(options));
  ASSERT_TRUE(line);
  EXPECT_EQ(JsonView(*line)["params"]["options"].text(),
            R"([{"optionId":"option_0","name":"Approve","kind":"allow_once"},)"
            R"({"optionId":"option_1","name":"Keep planning","kind":"reject_once"}])");
  EXPECT_EQ(Answered(asks.Take(
                Said("s/q1", R"({"outcome":{"outcome":"selected","optionId":"option_0"}})"))),
            "\"Approve\"");
}

TEST(AsksTest, WhatIsWithdrawnIsTakenBackOnceAndALateAnswerMeansNothing) {
  Asks asks("s");
  asks.Ask(Permission(), "{}");
  EXPECT_EQ(asks.Withdraw("r1"),
            R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"s/r1"}})");
  EXPECT_EQ(asks.Withdraw("r1"), std::nullopt);
  EXPECT_FALSE(asks.Take(Said("s/r1", "{}")));
}

TEST(AsksTest, ARequestsIdNamesItsSession) {
  EXPECT_EQ(SessionOfRequest("ses_1/req_2"), "ses_1");
  EXPECT_EQ(SessionOfRequest("7"), "");
}

}  // namespace
}  // namespace stet::acp
