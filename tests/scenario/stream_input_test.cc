// What the real program makes of what it is told in stream-json while it works: messages, control
// requests, answers, nonsense, and a client that is gone.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/scenario/stream_fixture.h"

namespace stet::scenario {
namespace {

constexpr std::string_view kEcho = R"({"replies":[
  {"times":0,"when":{"lastUser":"one"},"blocks":[{"text":"First."}]},
  {"times":0,"when":{"lastUser":"two"},"blocks":[{"text":"Second."}]},
  {"times":0,"when":{"lastUser":"three"},"blocks":[{"text":"Third."}]}]})";

constexpr std::string_view kWriteTwice = R"({"replies":[
  {"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"a"}}}]},
  {"when":{"hasToolResult":true,"call":2},
   "blocks":[{"call":{"name":"Write","args":{"file_path":"b.txt","content":"b"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

std::vector<std::string> Results(const StreamLines& lines) {
  std::vector<std::string> results;
  for (const StreamLine& line : OfType(lines, "result"))
    results.push_back(line.json()["result"].StringOr(""));
  return results;
}

TEST_F(StreamTest, MessagesThatWaitBecomeTurnsOfTheirOwnInTheirOrder) {
  Play(kEcho);
  const Ran ran = Feed(UserLine("one") + "\n" + UserLine("two") + "\n" + UserLine("three"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Results(LinesOf(ran.out)), (std::vector<std::string>{"First.", "Second.", "Third."}));
}

TEST_F(StreamTest, AMessageBehindAFailedTurnHasItsTurnAndTheLastOneGivesTheExitCode) {
  Play(R"({"replies":[{"when":{"lastUser":"two"},"blocks":[{"text":"Second."}]},
    {"when":{"lastUser":"one"},"fault":{"kind":"status","status":400,"message":"no"}},
    {"when":{"lastUser":"three"},"fault":{"kind":"status","status":400,"message":"no"}}]})");
  const Ran ran = Feed(UserLine("one") + "\n" + UserLine("two") + "\n" + UserLine("three") + "\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(Results(LinesOf(ran.out)), (std::vector<std::string>{"", "Second.", ""}));
}

TEST_F(StreamTest, ARefusedOptionIsSaidInAnswerToInitializeAndInTheResult) {
  Play(kEcho);
  Talk talk = Start({"--mcp-config", "{}"});
  talk.Say(RequestLine("1", R"({"subtype":"initialize"})"));
  const StreamLine refused = talk.Next("control_response");
  EXPECT_EQ(refused.json()["response"]["subtype"].StringOr(""), "error") << refused.text;
  EXPECT_EQ(refused.json()["response"]["error"].StringOr(""),
            "--mcp-config is not supported: leave it out");
  talk.Say(UserLine(std::string(200'000, 'x')));
  EXPECT_TRUE(talk.Next("result").json()["is_error"].Bool().value_or(false));
  const Finished ended = talk.End();
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_NE(ended.err.find("--mcp-config is not supported"), std::string::npos) << ended.err;
  EXPECT_TRUE(emulator_->Requests().empty());
  const Ran unheard = Feed("", {"--mcp-config", "{}"});
  EXPECT_EQ(unheard.exit_code, 2);
  EXPECT_NE(unheard.err.find("--mcp-config is not supported"), std::string::npos) << unheard.err;
}

TEST_F(StreamTest, NonsenseIsPassedOverAndTheLastResultSaysSo) {
  Play(kEcho);
  const Ran ran = Feed(
      "garbage\n\n[1,2]\n{\"type\":7}\n{\"type\":\"user\"}\n{\"type\":\"keep_alive\"}\n"
      "{\"type\":\"control_request\"}\n{\"type\":\"control_response\",\"response\":{}}\n\xff\xfe\n"
      "{\"type\":\"control_cancel_request\",\"request_id\":\"x\"}\n" +
      ResponseLine("unknown", "{}") + "\n" + std::string(2000, '[') + "\n" + UserLine("one") +
      "\n{\"type\":");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_EQ(Results(LinesOf(ran.out)), (std::vector<std::string>{"First.", ""}));
  const StreamLine result = OfType(LinesOf(ran.out), "result").back();
  const JsonView last = result.json();
  EXPECT_TRUE(last["is_error"].Bool().value_or(false));
  EXPECT_EQ(last["errors"].text(),
            R"(["a line of the input makes no sense: bad JSON at byte 0: a value is expected"])");
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 9) << ran.err;
}

TEST_F(StreamTest, InputThatIsNoJsonAtAllHasAResultAndFails) {
  const Ran ran = Feed("hello\n");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_EQ(Results(LinesOf(ran.out)), std::vector<std::string>{""});
}

TEST_F(StreamTest, ALineBeyondTheLimitIsDroppedAndTheNextOneIsRead) {
  Play(kEcho);
  const Ran ran =
      Feed(UserLine(std::string(std::size_t{21} << 20, 'x')) + "\n" + UserLine("one") + "\n");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_NE(ran.err.find("longer than 20 MB"), std::string::npos) << ran.err;
  EXPECT_EQ(Results(LinesOf(ran.out)), (std::vector<std::string>{"First.", ""}));
}

TEST_F(StreamTest, ImagesGoAlongAndAMessageThatCannotBeSentHasAResult) {
  Play(R"({"replies":[{"blocks":[{"text":"A dot."}]}]})");
  const std::string png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
      "gg==";
  const auto with = [](std::string_view block) {
    return fmt::format(
        R"({{"type":"user","message":{{"content":[{{"type":"text","text":"see"}},{}]}}}})", block);
  };
  const Ran ran = Feed(
      with(R"({"type":"document","source":{}})") + "\n" +
      with(R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"*"}})") +
      "\n" + R"({"type":"user","message":{"content":"  "}})" + "\n" +
      with(fmt::format(
          R"({{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}})",
          png)) +
      "\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Results(LinesOf(ran.out)), (std::vector<std::string>{"", "", "", "A dot."}));
  ASSERT_EQ(emulator_->Requests().size(), 1U);
  EXPECT_NE(emulator_->Requests()[0].body.text.find(png), std::string::npos);
}

TEST_F(StreamTest, WhatIsAskedIsAnsweredOverTheSameLines) {
  Play(kWriteTwice);
  Talk talk = Start({"--permission-prompt-tool", "stdio"});
  talk.Say(UserLine("go"));
  std::string id;
  const StreamLine ask = talk.NextAsk(id);
  const JsonView request = ask.json()["request"];
  EXPECT_EQ(request["tool_name"].StringOr(""), "Write");
  EXPECT_EQ(request["input"].text(), R"({"file_path":"a.txt","content":"a"})");
  EXPECT_FALSE(request["tool_use_id"].StringOr("").empty());
  EXPECT_EQ(
      request["permission_suggestions"].text(),
      R"([{"type":"addRules","rules":[{"toolName":"Write"}],"behavior":"allow","destination":"session"}])");
  // Another request may overtake the answer.
  talk.Say(RequestLine("r1", R"({"subtype":"mcp_status"})"));
  EXPECT_EQ(talk.Next().json()["response"]["response"].text(), R"({"mcpServers":[]})");
  talk.Say(ResponseLine(
      id,
      fmt::format(
          R"({{"behavior":"allow","updatedInput":{{"content":"edited","file_path":"a.txt"}},"updatedPermissions":{}}})",
          request["permission_suggestions"].text())));
  // The rule for the session holds for the second one.
  const StreamLine result = talk.Next("result");
  EXPECT_EQ(result.json()["result"].StringOr(""), "Done.");
  EXPECT_EQ(ReadFile(project_ + "/a.txt", 100).value_or(""), "edited");
  EXPECT_EQ(ReadFile(project_ + "/b.txt", 100).value_or(""), "b");
  EXPECT_EQ(talk.End().exit_code, 0);
}

TEST_F(StreamTest, WhoeverDeniesMayEndTheTurn) {
  Play(kWriteTwice);
  Talk talk = Start({"--permission-prompt-tool", "stdio"});
  talk.Say(UserLine("go"));
  std::string id;
  talk.NextAsk(id);
  talk.Say(ResponseLine(id, R"({"behavior":"deny","message":"not here","interrupt":true})"));
  EXPECT_NE(talk.Next("user").text.find("not here"), std::string::npos);
  const StreamLine result = talk.Next("result");
  EXPECT_EQ(result.json()["subtype"].StringOr(""), "error_during_execution");
  EXPECT_EQ(talk.End().exit_code, 3);
  EXPECT_FALSE(Exists(project_ + "/a.txt"));
}

TEST_F(StreamTest, AnErrorOrNonsenseInPlaceOfAnAnswerIsANo) {
  Play(kWriteTwice);
  Talk talk = Start({"--permission-prompt-tool", "stdio"});
  talk.Say(UserLine("go"));
  std::string id;
  talk.NextAsk(id);
  talk.Say(fmt::format(
      R"({{"type":"control_response","response":{{"subtype":"error","request_id":"{}","error":"it broke"}}}})",
      id));
  EXPECT_NE(talk.Next("user").text.find("it broke"), std::string::npos);
  talk.NextAsk(id);
  talk.Say(ResponseLine(id, "[]"));
  EXPECT_EQ(talk.Next("user").json()["tool_use_result"]["isError"].Bool(), true);
  EXPECT_EQ(talk.Next("result").json()["subtype"].StringOr(""), "success");
  EXPECT_EQ(talk.End().exit_code, 0);
  EXPECT_FALSE(Exists(project_ + "/a.txt") || Exists(project_ + "/b.txt"));
}

TEST_F(StreamTest, WhenTheInputHasEndedNobodyIsAskedAnyMore) {
  Play(kWriteTwice);
  const Ran ran = Feed(UserLine("go") + "\n", {"--permission-prompt-tool", "stdio"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const StreamLines lines = LinesOf(ran.out);
  EXPECT_EQ(Results(lines), std::vector<std::string>{"Done."});
  ASSERT_EQ(OfType(lines, "user").size(), 2U);
  EXPECT_NE(OfType(lines, "user")[0].text.find("the input has ended"), std::string::npos);
  EXPECT_FALSE(Exists(project_ + "/a.txt"));
}

TEST_F(StreamTest, AnInterruptTakesBackWhatIsAskedAndLeavesTheQueue) {
  Play(R"({"replies":[{"when":{"lastUser":"one"},
      "blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"a"}}}]},
    {"when":{"lastUser":"two"},"blocks":[{"text":"Second."}]}]})");
  Talk talk = Start({"--permission-prompt-tool", "stdio"});
  talk.Say(UserLine("one"));
  std::string id;
  talk.NextAsk(id);
  talk.Say(R"({"type":"user","uuid":"u-2","message":{"content":"two"}})");
  talk.Say(RequestLine("r1", R"({"subtype":"interrupt"})"));
  EXPECT_EQ(talk.Next("control_response").json()["response"]["response"].text(),
            R"({"still_queued":["u-2"]})");
  EXPECT_EQ(talk.Next("control_cancel_request").json()["request_id"].StringOr(""), id);
  const StreamLine cancelled = talk.Next("result");
  EXPECT_EQ(cancelled.json()["errors"].text(), R"(["cancelled"])");
  EXPECT_EQ(cancelled.json()["queued_turn_count"].IntOr(0), 1);
  EXPECT_EQ(talk.Next("result").json()["result"].StringOr(""), "Second.");
  // Too late: the program does not wait for it any more.
  talk.Say(ResponseLine(id, R"({"behavior":"allow"})"));
  EXPECT_EQ(talk.End().exit_code, 0);
  EXPECT_FALSE(Exists(project_ + "/a.txt"));
}

TEST_F(StreamTest, AModeChangesWhileATurnRunsAndAModelAtItsEnd) {
  Play(kWriteTwice);
  Talk talk = Start({"--permission-prompt-tool", "stdio"});
  talk.Say(RequestLine("r0", R"({"subtype":"set_permission_mode","mode":"plan"})"));
  talk.Say(RequestLine("r1", R"({"subtype":"set_permission_mode","mode":"default"})"));
  talk.Say(UserLine("go"));
  std::string id;
  talk.NextAsk(id);
  talk.Say(RequestLine("r2", R"({"subtype":"set_permission_mode","mode":"no such"})"));
  EXPECT_EQ(talk.Next("control_response").json()["response"]["subtype"].StringOr(""), "error");
  talk.Say(RequestLine("r3", R"({"subtype":"set_permission_mode","mode":"acceptEdits"})"));
  EXPECT_EQ(talk.Next("control_response").json()["response"]["subtype"].StringOr(""), "success");
  talk.Say(RequestLine("r4", R"({"subtype":"set_model","model":"offline"})"));
  EXPECT_EQ(talk.Next("control_response").json()["response"]["subtype"].StringOr(""), "success");
  talk.Say(ResponseLine(id, R"({"behavior":"allow"})"));
  const StreamLine first = talk.Next("result");
  EXPECT_EQ(first.json()["model"].StringOr(""), "custom/m") << first.text;
  EXPECT_EQ(ReadFile(project_ + "/b.txt", 100).value_or(""), "b") << "without another question";
  talk.Say(UserLine("list files"));
  EXPECT_EQ(talk.Next("result").json()["model"].StringOr(""), "stet/offline");
  EXPECT_EQ(talk.End().exit_code, 0);
}

TEST_F(StreamTest, AQuestionIsAskedLikeATool) {
  Play(
      R"({"replies":[{"blocks":[{"call":{"name":"AskUser","args":{"question":"Which?","options":[{"label":"A"}]}}}]},
    {"when":{"hasToolResult":true,"call":2},"blocks":[{"call":{"name":"AskUser","args":{"question":"Sure?"}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"text":"Fine."}]}]})");
  Talk talk = Start({"--permission-prompt-tool", "stdio"});
  talk.Say(UserLine("go"));
  std::string id;
  const StreamLine ask = talk.NextAsk(id);
  EXPECT_EQ(ask.json()["request"]["tool_name"].StringOr(""), "AskUser");
  EXPECT_EQ(ask.json()["request"]["input"].text(),
            R"({"question":"Which?","options":[{"label":"A"}]})");
  talk.Say(ResponseLine(id, R"({"behavior":"allow","updatedInput":{"answer":"B, rather"}})"));
  EXPECT_NE(talk.Next("user").text.find("B, rather"), std::string::npos);
  talk.NextAsk(id);
  talk.Say(ResponseLine(id, R"({"behavior":"deny","message":"ask somebody else"})"));
  const StreamLine declined = talk.Next("user");
  EXPECT_NE(declined.text.find("did not answer: ask somebody else"), std::string::npos);
  EXPECT_EQ(declined.json()["tool_use_result"]["isError"].Bool(), true);
  EXPECT_EQ(talk.Next("result").json()["result"].StringOr(""), "Fine.");
  EXPECT_EQ(talk.End().exit_code, 0);
}

TEST_F(StreamTest, WhatADeadProcessAskedIsAskedAgainAndMessagesWaitForIt) {
  Play(kWriteTwice);
  std::string session;
  {
    Talk talk = Start({"--permission-prompt-tool", "stdio"});
    talk.Say(UserLine("go"));
    session = talk.Next("system").json()["session_id"].StringOr("");
    std::string id;
    talk.NextAsk(id);
    talk.Kill(SIGKILL);
    talk.End();
  }
  Talk talk = Start({"--permission-prompt-tool", "stdio", "--resume", session});
  talk.Say(UserLine("and then"));
  std::string id;
  EXPECT_EQ(talk.NextAsk(id).json()["request"]["tool_name"].StringOr(""), "Write");
  talk.Say(ResponseLine(id, R"({"behavior":"allow"})"));
  talk.NextAsk(id);
  talk.Say(ResponseLine(id, R"({"behavior":"allow"})"));
  EXPECT_EQ(talk.Next("result").json()["result"].StringOr(""), "Done.");
  EXPECT_EQ(talk.Next("result").json()["result"].StringOr(""), "Done.");
  EXPECT_EQ(talk.End().exit_code, 0);
  EXPECT_EQ(ReadFile(project_ + "/a.txt", 100).value_or(""), "a");
}

TEST_F(StreamTest, InitializeShapesTheSessionAndNamesWhatThereIsNot) {
  Play(R"({"replies":[{"blocks":[{"call":{"name":"StructuredOutput","args":{"n":1}}}]}]})");
  const std::string initialize = RequestLine(
      "r1",
      R"({"subtype":"initialize","systemPrompt":["You are terse."],"appendSystemPrompt":"Be kind.","jsonSchema":{"type":"object","required":["n"]},"hooks":{}})");
  Ran ran = Feed(initialize + "\n" + UserLine("go") + "\n" +
                 RequestLine("r2", R"({"subtype":"get_context_usage"})") + "\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  StreamLines lines = LinesOf(ran.out);
  EXPECT_EQ(lines[0].json()["response"]["response"]["output_style"].StringOr(""), "default");
  EXPECT_EQ(OfType(lines, "result")[0].json()["structured_output"].text(), R"({"n":1})");
  const std::string body = emulator_->Requests()[0].body.text;
  EXPECT_NE(body.find("You are terse."), std::string::npos);
  EXPECT_NE(body.find("Be kind."), std::string::npos);
  EXPECT_NE(OfType(lines, "control_response")[1].text.find("get_context_usage"), std::string::npos);

  const std::string guarded = RequestLine(
      "r1",
      R"({"subtype":"initialize","hooks":{"PreToolUse":[{"hookCallbackIds":["h"]}]},"agents":{"a":{}}})");
  ran = Feed(guarded + "\n" + UserLine("go") + "\n");
  lines = LinesOf(ran.out);
  EXPECT_NE(lines[0].json()["response"]["error"].StringOr("").find("hooks, agents"),
            std::string::npos)
      << ran.out;
  ASSERT_EQ(OfType(lines, "result").size(), 1U);
  EXPECT_EQ(ran.exit_code, 1) << "nothing is begun without its guards";
  EXPECT_EQ(OfType(lines, "assistant").size(), 0U);
}

TEST_F(StreamTest, ATermSignalEndsTheTurnWithItsResult) {
  Play(
      R"({"replies":[{"blocks":[{"text":"It never ends."}],"fault":{"kind":"stall","afterEvents":4}}]})");
  Talk talk = Start({"--include-partial-messages"});
  talk.Say(UserLine("go"));
  talk.Say(UserLine("never begun"));
  talk.Next("stream_event");
  talk.Kill(SIGTERM);
  EXPECT_EQ(talk.Next("result").json()["errors"].text(), R"(["cancelled"])");
  const Finished finished = talk.End();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_EQ(OfType(LinesOf(finished.out), "result").size(), 0U);
  EXPECT_TRUE(Sound());
}

TEST_F(StreamTest, AReaderThatGoesAwayEndsItAndEverythingIsKept) {
  Play(
      R"({"replies":[{"blocks":[{"text":"A reply of many parts, one after the other."}],"delta":1,"pauseMs":5}]})");
  Talk talk = Start({"--include-partial-messages"});
  talk.Say(UserLine("go"));
  talk.Next("stream_event");
  talk.CloseOutput();
  EXPECT_EQ(talk.End().exit_code, 1);
  EXPECT_TRUE(Sound());
  const Ran shown = program_.Run({"sessions", "ls", "--json"});
  EXPECT_NE(shown.out.find("\"userMessages\":1"), std::string::npos) << shown.out;
}

}  // namespace
}  // namespace stet::scenario
