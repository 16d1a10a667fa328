// The real program as an agent of the Agent Client Protocol: what a client asks for, and what it is
// told meanwhile.
#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>

#include "tests/scenario/acp_fixture.h"

namespace stet::scenario {
namespace {

constexpr std::string_view kWrite = R"({"replies":[
  {"blocks":[{"text":"I write it."},{"call":{"name":"Write","args":{"file_path":"a.txt","content":"new\n"}}}]},
  {"when":{"hasToolResult":true},"times":0,"blocks":[{"thinking":"Hm."},{"text":"It is written."}],"delta":4}]})";

constexpr std::string_view kEcho = R"({"replies":[
  {"times":0,"when":{"lastUser":"one"},"blocks":[{"text":"First."}]},
  {"times":0,"when":{"lastUser":"two"},"blocks":[{"text":"Second."}]}]})";

/// A reply that never ends, and others behind it.
constexpr std::string_view kStall = R"({"replies":[
  {"when":{"lastUser":"first"},"blocks":[{"text":"It never ends at all."}],"delta":1,"fault":{"kind":"stall","afterEvents":6}},
  {"times":0,"when":{"lastUser":"second"},"blocks":[{"text":"Here I am."}]}]})";

std::size_t PlaceOf(const std::vector<std::string>& kinds, std::string_view kind) {
  return static_cast<std::size_t>(std::ranges::find(kinds, kind) - kinds.begin());
}

TEST_F(AcpTest, AFileIsWrittenAfterItWasAskedAndEverythingIsTold) {
  Script(kWrite);
  ASSERT_TRUE(ReplaceFile(project_ + "/other.txt", "x", Durable::kNo));
  AcpClient client = Start();
  const std::string hello = client.Initialize();
  const JsonView can = JsonView(hello)["agentCapabilities"];
  EXPECT_EQ(JsonView(hello)["protocolVersion"].IntOr(0), 1);
  EXPECT_TRUE(can["loadSession"].Bool().value_or(false));
  EXPECT_EQ(JsonView(hello)["agentInfo"]["name"].StringOr(""), "stet");
  const std::string session = client.New(project_);
  EXPECT_NE(client.Update("available_commands_update").find("compact"), std::string::npos);

  const int prompt = client.Prompt(session, "write it");
  const std::string asked = client.Asked("session/request_permission");
  const JsonView call = JsonView(asked)["params"]["toolCall"];
  EXPECT_EQ(JsonView(asked)["params"]["sessionId"].StringOr(""), session);
  EXPECT_EQ(call["kind"].StringOr(""), "edit");
  const std::string diff = fmt::format(
      R"({{"type":"diff","path":"{}/a.txt","oldText":null,"newText":"new\n"}})", project_);
  EXPECT_TRUE(call["content"].text().starts_with("[" + diff)) << call["content"].text();
  EXPECT_EQ(Content("a.txt"), "(none)");
  client.Choose(asked, "allow_once");
  EXPECT_EQ(client.StopReason(prompt), "end_turn");
  EXPECT_EQ(Content("a.txt"), "new\n");

  const std::string done = client.CallUpdate("completed");
  EXPECT_EQ(JsonView(done)["params"]["update"]["content"].text(), "[" + diff + "]");
  EXPECT_EQ(client.Text("agent_message_chunk"), "I write it.It is written.");
  EXPECT_EQ(client.Text("agent_thought_chunk"), "Hm.");
  const std::vector<std::string> kinds = client.Kinds();
  EXPECT_LT(PlaceOf(kinds, "tool_call"), PlaceOf(kinds, "session/request_permission"));
  EXPECT_EQ(std::ranges::count(kinds, "user_message_chunk"), 0) << "its own words";
  EXPECT_LT(PlaceOf(kinds, "usage_update"), kinds.size());
  EXPECT_EQ(client.End().exit_code, 0);
  EXPECT_TRUE(Sound());
}

TEST_F(AcpTest, AModeIsChosenAndAnEditShowsItsParts) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Read","args":{"file_path":"b.txt","offset":1}}}]},
    {"when":{"hasToolResult":true,"call":2},"blocks":[{"call":{"name":"Edit","args":{"file_path":"b.txt","old_string":"two","new_string":"2"}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"call":{"name":"TodoWrite","args":{"todos":[{"content":"go on","status":"in_progress"}]}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"text":"Edited."}]}]})");
  ASSERT_TRUE(ReplaceFile(project_ + "/b.txt", "one\ntwo\n", Durable::kNo));
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  client.Call("session/set_mode",
              fmt::format(R"({{"sessionId":"{}","modeId":"acceptEdits"}})", session));
  const std::string mode = client.Update("current_mode_update");
  EXPECT_EQ(JsonView(mode)["params"]["update"]["currentModeId"].StringOr(""), "acceptEdits");
  EXPECT_EQ(client.StopReason(client.Prompt(session, "edit it")), "end_turn");
  EXPECT_EQ(Content("b.txt"), "one\n2\n");
  const std::string read = client.CallUpdate("completed");
  EXPECT_EQ(JsonView(read)["params"]["update"]["locations"].text(),
            fmt::format(R"([{{"path":"{}/b.txt","line":1}}])", project_));
  const std::string edited = client.CallUpdate("completed");
  EXPECT_EQ(JsonView(edited)["params"]["update"]["content"].text(),
            fmt::format(R"([{{"type":"diff","path":"{}/b.txt","oldText":"two","newText":"2"}}])",
                        project_));
  const std::string plan = client.Update("plan");
  EXPECT_EQ(JsonView(plan)["params"]["update"]["entries"].text(),
            R"([{"content":"go on","priority":"medium","status":"in_progress"}])");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, OptionsAreChosenByName) {
  Script(kEcho);
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const std::string result =
      client.Call("session/set_config_option",
                  fmt::format(R"({{"sessionId":"{}","configId":"mode","value":"plan"}})", session));
  EXPECT_NE(result.find(R"("currentValue":"plan")"), std::string::npos) << result;
  client.Update("config_option_update");
  client.Call("session/set_config_option",
              fmt::format(R"({{"sessionId":"{}","configId":"model","value":"offline"}})", session));
  EXPECT_TRUE(client
                  .Refused("session/set_config_option",
                           fmt::format(R"({{"sessionId":"{}","configId":"colour","value":"red"}})",
                                       session))
                  .starts_with("-32602 configId"));
  EXPECT_TRUE(client
                  .Refused("session/set_mode",
                           fmt::format(R"({{"sessionId":"{}","modeId":"nonsense"}})", session))
                  .starts_with("-32602 there is no mode"));
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, ACancelEndsTheReplyAndTheNextPromptIsAnswered) {
  Script(kStall);
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const int first = client.Prompt(session, "first");
  client.Update("agent_message_chunk");
  const int queued = client.Prompt(session, "queued behind it");
  client.Cancel(session);
  EXPECT_EQ(client.StopReason(first), "cancelled");
  EXPECT_EQ(client.StopReason(queued), "cancelled");
  EXPECT_EQ(client.StopReason(client.Prompt(session, "second")), "end_turn");
  EXPECT_TRUE(client.Text("agent_message_chunk").ends_with("Here I am."));
  EXPECT_EQ(client.End().exit_code, 0);
  EXPECT_TRUE(Sound());
}

TEST_F(AcpTest, APromptThatWaitsIsAnsweredAfterTheOneBeforeIt) {
  Script(kEcho);
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const int first = client.Prompt(session, "one");
  const int second = client.Prompt(session, "two");
  EXPECT_EQ(client.StopReason(first), "end_turn");
  EXPECT_EQ(client.StopReason(second), "end_turn");
  EXPECT_EQ(client.Text("agent_message_chunk"), "First.Second.");
  EXPECT_EQ(client.Text("user_message_chunk"), "");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, ACancelWhileItIsAskedAndARequestThatIsCancelled) {
  Script(
      R"({"replies":[{"times":0,"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"x"}}}]}]})");
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const int first = client.Prompt(session, "write");
  const std::string asked = client.Asked("session/request_permission");
  client.Cancel(session);
  client.Answer(asked, R"({"outcome":{"outcome":"cancelled"}})");
  EXPECT_EQ(client.StopReason(first), "cancelled");
  client.CallUpdate("failed");
  const int second = client.Prompt(session, "write");
  client.Asked("session/request_permission");
  client.Notify("$/cancel_request", fmt::format(R"({{"requestId":{}}})", second));
  EXPECT_EQ(client.StopReason(second), "cancelled");
  EXPECT_EQ(Content("a.txt"), "(none)");
  EXPECT_EQ(client.End().exit_code, 0);
  EXPECT_TRUE(Sound());
}

TEST_F(AcpTest, WhatIsRejectedIsNotDoneAndARuleForTheSessionHolds) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"touch no.txt"}}}]},
    {"when":{"hasToolResult":true,"call":2},"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"a"}}}]},
    {"when":{"hasToolResult":true,"call":3},"blocks":[{"call":{"name":"Write","args":{"file_path":"b.txt","content":"b"}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"text":"Done."}]}]})");
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const int prompt = client.Prompt(session, "go");
  client.Choose(client.Asked("session/request_permission"), "reject_once");
  client.Choose(client.Asked("session/request_permission"), "allow_session");
  EXPECT_EQ(client.StopReason(prompt), "end_turn");
  EXPECT_EQ(Content("no.txt"), "(none)");
  EXPECT_EQ(Content("b.txt"), "b");
  EXPECT_EQ(std::ranges::count(client.Kinds(), "session/request_permission"), 2);
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, ALoadTellsTheHistoryFirstAndAResumeDoesNot) {
  Script(kWrite);
  std::string session;
  {
    AcpClient client = Start();
    client.Initialize();
    session = client.New(project_);
    const int prompt = client.Prompt(session, "write it");
    client.Choose(client.Asked("session/request_permission"), "allow_once");
    EXPECT_EQ(client.StopReason(prompt), "end_turn");
    EXPECT_EQ(client.End().exit_code, 0);
  }
  const std::string params =
      fmt::format(R"({{"sessionId":"{}","cwd":"{}","mcpServers":[]}})", session, project_);
  {
    AcpClient client = Start();
    client.Initialize();
    const std::string loaded = client.Call("session/load", params);
    EXPECT_TRUE(JsonView(loaded)["modes"]);
    EXPECT_EQ(client.Kinds(),
              (std::vector<std::string>{"=1", "user_message_chunk", "agent_message_chunk",
                                        "tool_call", "tool_call_update", "agent_thought_chunk",
                                        "agent_message_chunk", "=2"}));
    EXPECT_EQ(client.Text("user_message_chunk"), "write it");
    EXPECT_EQ(client.Text("agent_message_chunk"), "I write it.It is written.");
    ASSERT_TRUE(emulator_->SetScript(
        R"({"replies":[{"when":{"contains":"write it","lastUser":"and now"},"blocks":[{"text":"I remember."}]}]})"));
    EXPECT_EQ(client.StopReason(client.Prompt(session, "and now")), "end_turn");
    EXPECT_EQ(client.End().exit_code, 0);
  }
  AcpClient client = Start();
  client.Initialize();
  client.Call("session/resume", params);
  EXPECT_EQ(client.Kinds(), (std::vector<std::string>{"=1", "=2"}));
  EXPECT_TRUE(client
                  .Refused("session/load",
                           fmt::format(R"({{"sessionId":"ses_none","cwd":"{}","mcpServers":[]}})",
                                       project_))
                  .starts_with("-32002 "));
  EXPECT_EQ(client.End().exit_code, 0);
  EXPECT_TRUE(Sound());
}

TEST_F(AcpTest, ASessionThatWasNeverPromptedIsThereForTheNextProcess) {
  Script(kEcho);
  std::string session;
  {
    AcpClient client = Start();
    client.Initialize();
    session = client.New(project_);
    EXPECT_EQ(client.End().exit_code, 0);
  }
  AcpClient client = Start();
  client.Initialize();
  client.Call("session/load",
              fmt::format(R"({{"sessionId":"{}","cwd":"{}","mcpServers":[]}})", session, project_));
  EXPECT_EQ(client.StopReason(client.Prompt(session, "one")), "end_turn");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, DeletingASessionThatThereIsNotSpeaksOfSessions) {
  AcpClient client = Start();
  client.Initialize();
  for (const char* id : {"ses_none", "../x", "01JD0000000000000000000000"}) {
    const std::string refused =
        client.Refused("session/delete", fmt::format(R"({{"sessionId":"{}"}})", id));
    EXPECT_TRUE(refused.starts_with("-32002 ")) << refused;
    EXPECT_TRUE(refused.contains("session")) << refused;
    EXPECT_FALSE(refused.contains("file")) << refused;
    EXPECT_FALSE(refused.contains("director")) << refused;
  }
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, SessionsAreListedClosedAndDeleted) {
  Script(kEcho);
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const std::string empty = client.New(project_);
  EXPECT_EQ(client.StopReason(client.Prompt(session, "one")), "end_turn");
  client.Call("session/close", fmt::format(R"({{"sessionId":"{}"}})", session));
  client.Call("session/close", fmt::format(R"({{"sessionId":"{}"}})", empty));
  const std::string list = client.Call("session/list", fmt::format(R"({{"cwd":"{}"}})", project_));
  std::vector<std::string> ids;
  JsonView(list)["sessions"].ForEach(
      [&](const JsonView& one) { ids.push_back(one["sessionId"].StringOr("")); });
  EXPECT_EQ(ids, std::vector<std::string>{session})
      << "one in which nothing was said is not listed";
  EXPECT_TRUE(
      client
          .Call("session/load",
                fmt::format(R"({{"sessionId":"{}","cwd":"{}","mcpServers":[]}})", empty, project_))
          .contains("configOptions"))
      << "but can be loaded";
  EXPECT_TRUE(
      client.Refused("session/prompt", fmt::format(R"({{"sessionId":"{}","prompt":[]}})", session))
          .starts_with("-32002 "));
  client.Call("session/delete", fmt::format(R"({{"sessionId":"{}"}})", session));
  EXPECT_EQ(client.Call("session/list", "{}"), R"({"sessions":[]})");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, TwoSessionsWorkAtOnceEachInItsFolder) {
  Script(R"({"replies":[
    {"times":0,"when":{"lastUser":"left","hasToolResult":false},"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"here"}}}]},
    {"times":0,"when":{"lastUser":"right","hasToolResult":false},"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"there"}}}]},
    {"times":0,"when":{"hasToolResult":true},"blocks":[{"text":"Done."}]}]})");
  const std::string other = dir_.path() + "/other";
  ASSERT_TRUE(MakeDirs(other));
  AcpClient client = Start();
  client.Initialize();
  const std::string here = client.New(project_);
  const std::string there = client.New(other);
  const int first = client.Prompt(here, "left");
  const int second = client.Prompt(there, "right");
  const std::string asked = client.Asked("session/request_permission");
  const std::string also = client.Asked("session/request_permission");
  client.Choose(also, "allow_once");
  client.Choose(asked, "allow_once");
  EXPECT_EQ(client.StopReason(first), "end_turn");
  EXPECT_EQ(client.StopReason(second), "end_turn");
  EXPECT_EQ(Content("a.txt"), "here");
  EXPECT_EQ(ReadFile(other + "/a.txt").value_or(""), "there");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, AQuestionIsAFormWhereThereAreFormsAndElseDeclined) {
  constexpr std::string_view kAsk = R"({"replies":[
    {"blocks":[{"call":{"name":"AskUser","args":{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}}}]},
    {"when":{"hasToolResult":true,"contains":"The user answered: B"},"blocks":[{"text":"B it is."}]},
    {"when":{"hasToolResult":true,"contains":"cannot show questions"},"blocks":[{"text":"A or B?"}]}]})";
  Script(kAsk);
  {
    AcpClient client = Start();
    client.Initialize(R"({"elicitation":{"form":{}}})");
    const std::string session = client.New(project_);
    const int prompt = client.Prompt(session, "ask me");
    const std::string form = client.Asked("elicitation/create");
    EXPECT_EQ(JsonView(form)["params"]["message"].StringOr(""), "Which?");
    client.Answer(form, R"({"action":"accept","content":{"choice":"B"}})");
    EXPECT_EQ(client.StopReason(prompt), "end_turn");
    EXPECT_EQ(client.Text("agent_message_chunk"), "B it is.");
    EXPECT_EQ(client.End().exit_code, 0);
  }
  ASSERT_TRUE(emulator_->SetScript(kAsk));
  AcpClient client = Start();
  client.Initialize();
  EXPECT_EQ(client.StopReason(client.Prompt(client.New(project_), "ask me")), "end_turn");
  EXPECT_EQ(client.Text("agent_message_chunk"), "A or B?");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, APlanIsApprovedLikeAPermission) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"ExitPlan","args":{"plan":"1. Write a."}}}]},
    {"when":{"hasToolResult":true,"contains":"has approved the plan"},"blocks":[{"text":"I go on."}]}]})");
  AcpClient client = Start();
  client.Initialize(R"({"elicitation":{"form":{}}})");
  const std::string session = client.New(project_);
  client.Call("session/set_mode", fmt::format(R"({{"sessionId":"{}","modeId":"plan"}})", session));
  const int prompt = client.Prompt(session, "plan it");
  const std::string asked = client.Asked("session/request_permission");
  EXPECT_NE(asked.find("1. Write a."), std::string::npos);
  client.Choose(asked, "option_0");
  EXPECT_EQ(client.StopReason(prompt), "end_turn");
  EXPECT_EQ(client.Text("agent_message_chunk"), "I go on.");
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, WhatWasAskedBeforeADeathIsAskedAgainAfterALoad) {
  Script(kWrite);
  std::string session;
  {
    AcpClient client = Start();
    client.Initialize();
    session = client.New(project_);
    client.Prompt(session, "write it");
    client.Asked("session/request_permission");
    client.Kill(SIGKILL);
    client.End();
  }
  AcpClient client = Start();
  client.Initialize();
  client.Call("session/load",
              fmt::format(R"({{"sessionId":"{}","cwd":"{}","mcpServers":[]}})", session, project_));
  const std::string asked = client.Asked("session/request_permission");
  EXPECT_NE(asked.find(R"("newText":"new\n")"), std::string::npos) << asked;
  client.Choose(asked, "allow_once");
  client.CallUpdate("completed");
  EXPECT_EQ(Content("a.txt"), "new\n");
  // No request waits for the turn's end, which comes all the same; until then the session is
  // loaded once more.
  client.Update("agent_thought_chunk");
  client.Call("session/load",
              fmt::format(R"({{"sessionId":"{}","cwd":"{}","mcpServers":[]}})", session, project_));
  EXPECT_EQ(client.End().exit_code, 0);
  EXPECT_TRUE(Sound());
}

TEST_F(AcpTest, LinksFilesAndCommandsInPrompts) {
  Script(R"({"replies":[{"when":{"contains":"the content of c"},"blocks":[{"text":"Read."}]}]})");
  ASSERT_TRUE(ReplaceFile(project_ + "/c.txt", "the content of c\n", Durable::kNo));
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const int prompt = client.Send(
      "session/prompt",
      fmt::format(
          R"({{"sessionId":"{0}","prompt":[{{"type":"text","text":"sum up"}},{{"type":"resource_link","name":"c","uri":"file://{1}/c.txt"}}]}})",
          session, project_));
  EXPECT_EQ(client.StopReason(prompt), "end_turn");
  EXPECT_EQ(client.StopReason(client.Prompt(session, "/title A new name")), "end_turn");
  EXPECT_EQ(
      JsonView(client.Update("session_info_update"))["params"]["update"]["title"].StringOr(""),
      "A new name");
  EXPECT_TRUE(
      client
          .Refused("session/prompt",
                   fmt::format(R"({{"sessionId":"{}","prompt":[{{"type":"audio"}}]}})", session))
          .starts_with("-32602 prompt[0]"));
  EXPECT_EQ(client.End().exit_code, 0);
}

}  // namespace
}  // namespace stet::scenario
