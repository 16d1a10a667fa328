#include "acp/asks.h"

#include <gtest/gtest.h>

#include "json/view.h"

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

Result<Raw> Said(std::string result) { return Raw{std::move(result)}; }

std::string Answered(const std::optional<protocol::AskAnswer>& answer) {
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
    const std::optional<Outgoing> request = asks.Ask(Permission(), R"({"toolCallId":"t1"})");
    ASSERT_TRUE(request);
    EXPECT_EQ(
        JsonView(request->params.text)["options"].text(),
        R"([{"optionId":"allow_once","name":"Allow","kind":"allow_once"},)"
        R"x({"optionId":"allow_session","name":"Allow in this session: Bash(make *)","kind":"allow_always"},)x"
        R"({"optionId":"reject_once","name":"Reject","kind":"reject_once"}])");
    EXPECT_FALSE(asks.Ask(Permission(), "{}")) << "asked twice";
    const std::string result = std::string(R"({"outcome":)") + outcome + "}";
    const std::optional<protocol::AskAnswer> answer = asks.Take("r1", Said(result));
    ASSERT_TRUE(answer);
    const auto& said = std::get<protocol::PermissionAnswer>(*answer);
    EXPECT_EQ(said.request_id, "r1");
    EXPECT_EQ(said.allow, allow) << outcome;
    EXPECT_EQ(said.scope, scope) << outcome;
    EXPECT_EQ(said.stop, stop) << outcome;
    EXPECT_FALSE(asks.Take("r1", Said(result))) << "answered twice";
  }
}

TEST(AsksTest, AnErrorIsANoThatSaysWhy) {
  Asks asks("s");
  asks.Ask(Permission(), "{}");
  const std::optional<protocol::AskAnswer> answer =
      asks.Take("r1", Fail(Code::kInvalid, "no such method"));
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
    const std::optional<Outgoing> request = asks.AskForm(Question(options));
    ASSERT_TRUE(request);
    const JsonView schema = JsonView(request->params.text)["requestedSchema"];
    EXPECT_EQ(schema["properties"]["choice"]["oneOf"].text(),
              R"([{"const":"A","title":"A: first"},{"const":"B","title":"B"}])");
    EXPECT_EQ(Answered(asks.Take("q1", Said(result))), answer);
  }
  Asks asks("s");
  EXPECT_EQ(
      JsonView(asks.AskForm(Question("[]"))->params.text)["requestedSchema"]["required"].text(),
      R"(["answer"])");
}

TEST(AsksTest, APlanIsPermittedByItsFirstOption) {
  Asks asks("s");
  const std::string options = R"([{"label":"Approve"},{"label":"Keep planning"}])";
  const std::optional<Outgoing> request = asks.AskPlan(Question(options));
  ASSERT_TRUE(request);
  EXPECT_EQ(JsonView(request->params.text)["options"].text(),
            R"([{"optionId":"option_0","name":"Approve","kind":"allow_once"},)"
            R"({"optionId":"option_1","name":"Keep planning","kind":"reject_once"}])");
  EXPECT_EQ(Answered(asks.Take(
                "q1", Said(R"({"outcome":{"outcome":"selected","optionId":"option_0"}})"))),
            "\"Approve\"");
}

TEST(AsksTest, WhatIsWithdrawnIsTakenBackOnceAndALateAnswerMeansNothing) {
  Asks asks("s");
  asks.Ask(Permission(), "{}");
  asks.Sent("r1", 7);
  EXPECT_EQ(asks.open_requests(), std::vector<std::int64_t>{7});
  EXPECT_EQ(asks.Withdraw("r1"), 7);
  EXPECT_EQ(asks.Withdraw("r1"), std::nullopt);
  EXPECT_FALSE(asks.Take("r1", Said("{}")));
  EXPECT_TRUE(asks.open_requests().empty());
}

}  // namespace
}  // namespace stet::acp
