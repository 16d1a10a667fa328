#include "protocol/ask.h"

#include <gtest/gtest.h>

namespace stet::protocol {
namespace {

Event Of(Payload payload) {
  Event event;
  event.payload = std::move(payload);
  return event;
}

PermissionAsk ABash() {
  PermissionAsk ask;
  ask.request_id = "r1";
  ask.tool_call_id = "c1";
  ask.tool = "Bash";
  ask.args = Raw{R"({"command":"make"})"};
  ask.session_rule = "Bash(make *)";
  return ask;
}

TEST(AskTest, APermissionIsAskedAsItsEventHasIt) {
  Permission event;
  event.request_id = "r1";
  event.tool_call_id = "c1";
  event.phase = "asked";
  event.options = Raw{Encode(ABash())};
  const std::optional<AskNews> news = AskNewsIn(Of(event));
  ASSERT_TRUE(news && news->asked);
  EXPECT_EQ(news->id, "r1");
  EXPECT_EQ(std::get<PermissionAsk>(*news->asked), ABash());
  EXPECT_EQ(AskId(*news->asked), "r1");
}

TEST(AskTest, OneWhoseEventSaysLittleCanStillBeAnswered) {
  for (const OptionalRaw& options : {OptionalRaw(), OptionalRaw(Raw{"7"})}) {
    Permission event;
    event.request_id = "r1";
    event.tool_call_id = "c1";
    event.phase = "asked";
    event.options = options;
    const std::optional<AskNews> news = AskNewsIn(Of(event));
    ASSERT_TRUE(news && news->asked);
    EXPECT_EQ(std::get<PermissionAsk>(*news->asked).tool_call_id, "c1");
  }
}

TEST(AskTest, AnAnswerAndAWithdrawalCloseIt) {
  for (const char* phase : {"answered", "withdrawn"}) {
    Permission permission;
    permission.request_id = "r1";
    permission.phase = phase;
    Question question;
    question.question_id = "q1";
    question.phase = phase;
    question.by = "terminal-1";
    const std::optional<AskNews> first = AskNewsIn(Of(permission));
    const std::optional<AskNews> second = AskNewsIn(Of(question));
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->id, "r1");
    EXPECT_EQ(second->id, "q1");
    EXPECT_EQ(second->by, "terminal-1");
    EXPECT_FALSE(first->asked || second->asked);
  }
  EXPECT_FALSE(AskNewsIn(Of(Rewind())));
}

TEST(AskTest, AQuestionsOptionsAreTextsOrHaveMoreWords) {
  Question event;
  event.question_id = "q1";
  event.phase = "asked";
  event.text = "Which?";
  event.options = Raw{R"([{"label":"A","description":"first"},"B",7])"};
  const std::optional<AskNews> news = AskNewsIn(Of(event));
  ASSERT_TRUE(news && news->asked);
  const auto& ask = std::get<QuestionAsk>(*news->asked);
  EXPECT_EQ(ask.text, "Which?");
  const std::vector<AskOption> options = OptionsOf(ask);
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].label + "/" + options[0].description, "A/first");
  EXPECT_EQ(options[1].label + "/" + options[1].description, "B/");
}

TEST(AskTest, WhatASessionWaitsForIsAllOfItsAsks) {
  LiveState state;
  state.asks.push_back(ABash());
  state.questions.emplace_back().question_id = "q1";
  const Asks open = OpenAsks(state);
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(AskId(open[0]), "r1");
  EXPECT_EQ(AskId(open[1]), "q1");
}

TEST(AskTest, AnswersSayWhatTheyAreNamedFor) {
  EXPECT_TRUE(Allow("r1", "session").allow);
  EXPECT_EQ(Allow("r1", "session").scope, "session");
  EXPECT_FALSE(Deny("r1", "not now").allow);
  EXPECT_EQ(Deny("r1", "not now").message, "not now");
  EXPECT_EQ(Say("q1", "a \"b\"").answer.text, R"("a \"b\"")");
  EXPECT_EQ(Decline("q1", "why").answer.text, R"({"declined":"why"})");
}

}  // namespace
}  // namespace stet::protocol
