#include "sdk/asks.h"

#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::sdk {
namespace {

protocol::PermissionAsk MakeAsk() {
  protocol::PermissionAsk ask;
  ask.request_id = "q";
  ask.tool_call_id = "call";
  ask.tool = "Bash";
  ask.args = Raw{R"({"command": "make  x", "n": 1})"};
  ask.session_rule = "Bash(make x)";
  return ask;
}

ControlResponse Said(std::string response) {
  return {.id = "q", .response = {std::move(response)}, .error = std::nullopt};
}

protocol::PermissionAnswer AnswerTo(std::string response) {
  StreamAsks asks;
  EXPECT_TRUE(asks.Ask(MakeAsk()));
  const std::optional<AskReply> reply = asks.Answer(Said(std::move(response)));
  EXPECT_TRUE(reply);
  return reply ? std::get<protocol::PermissionAnswer>(reply->answer) : protocol::PermissionAnswer();
}

TEST(StreamAsksTest, AnInputThatSaysTheSameIsNotEdited) {
  const auto same =
      AnswerTo(R"({"behavior":"allow","updatedInput":{"n":1.0,"command":"make  x"}})");
  EXPECT_TRUE(same.allow);
  EXPECT_FALSE(same.args);
  const auto other = AnswerTo(R"({"behavior":"allow","updatedInput":{"command":"make y"}})");
  ASSERT_TRUE(other.args);
  EXPECT_EQ(other.args->text, R"({"command":"make y"})");
}

TEST(StreamAsksTest, ARuleForTheSessionCountsWhenItCoversWhatWeWouldAllow) {
  const auto scope = [](std::string_view rule, std::string_view more) {
    return AnswerTo(R"({"behavior":"allow","updatedPermissions":[{"type":"addRules","rules":[)" +
                    std::string(rule) + "]," + std::string(more) + "}]}")
        .scope;
  };
  constexpr std::string_view kSession = R"("behavior":"allow","destination":"session")";
  EXPECT_EQ(scope(R"({"toolName":"Bash","ruleContent":"make x"})", kSession), "session");
  EXPECT_EQ(scope(R"({"toolName":"Bash"})", kSession), "session");
  EXPECT_EQ(scope(R"({"toolName":"Bash","ruleContent":"make xy"})", kSession), "once");
  EXPECT_EQ(scope(R"({"toolName":"Write"})", kSession), "once");
  EXPECT_EQ(scope(R"({"toolName":"Bash"})", R"("behavior":"deny","destination":"session")"),
            "once");
  EXPECT_EQ(scope(R"({"toolName":"Bash"})", R"("behavior":"allow","destination":"userSettings")"),
            "once");
}

TEST(StreamAsksTest, OfAnEditedCallOnlyARuleForTheWholeToolCountsForTheSession) {
  const auto scope = [](std::string_view rule) {
    return AnswerTo(R"({"behavior":"allow","updatedInput":{"command":"make y"},)"
                    R"("updatedPermissions":[{"type":"addRules","rules":[)" +
                    std::string(rule) + R"(],"behavior":"allow","destination":"session"}]})")
        .scope;
  };
  EXPECT_EQ(scope(R"({"toolName":"Bash","ruleContent":"make x"})"), "once");
  EXPECT_EQ(scope(R"({"toolName":"Bash"})"), "session");
}

TEST(StreamAsksTest, WhatIsNotAYesIsANo) {
  for (const char* response : {"null", "{}", "[]", R"({"behavior":"yes"})", R"({"behavior":7})"})
    EXPECT_FALSE(AnswerTo(response).allow) << response;
  const auto no = AnswerTo(R"({"behavior":"deny","message":"why","interrupt":true})");
  EXPECT_EQ(no.message, "why");
  EXPECT_TRUE(no.stop);
}

TEST(StreamAsksTest, ARequestIsAskedOnceAndAnsweredOnce) {
  StreamAsks asks;
  EXPECT_TRUE(asks.Ask(MakeAsk()));
  EXPECT_FALSE(asks.Ask(MakeAsk()));
  EXPECT_EQ(asks.Withdraw("q"), R"({"type":"control_cancel_request","request_id":"q"})");
  EXPECT_FALSE(asks.Withdraw("q"));
  EXPECT_FALSE(asks.Answer(Said(R"({"behavior":"allow"})")));
  EXPECT_FALSE(asks.Ask(MakeAsk()));
}

}  // namespace
}  // namespace stet::sdk
