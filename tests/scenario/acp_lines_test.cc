// The lines of the Agent Client Protocol themselves: nonsense, missing keys, ends in the middle,
// and a client that does not read.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/scenario/acp_fixture.h"

namespace stet::scenario {
namespace {

constexpr std::string_view kStallForEver = R"({"replies":[{"times":0,
  "blocks":[{"text":"It never ends at all."}],"delta":1,"fault":{"kind":"stall","afterEvents":6}}]})";

TEST_F(AcpTest, NonsenseIsAnsweredWithItsCodeAndNothingElseSuffers) {
  Script(kStallForEver);
  AcpClient client = Start();
  EXPECT_EQ(client.Refused("session/list", "{}"), "-32600 initialize must come first");
  client.Initialize();
  const auto code = [&](std::string_view line) {
    client.Say(line);
    return client.Fault();
  };
  EXPECT_EQ(code("nonsense"), -32700);
  EXPECT_EQ(code("\"\xff\""), -32700);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":{},"method":"m"})"), -32600);
  EXPECT_EQ(code(std::string(33 << 20, 'x')), -32700);
  client.Say("");
  client.Notify("session/cancel", "7");
  client.Notify("no/such", "{}");
  client.Say(R"({"jsonrpc":"2.0","id":"stray","result":{}})");
  EXPECT_EQ(client.Refused("no/such", "{}"), "-32601 method not found: no/such");
  EXPECT_EQ(client.Refused("session/new", "[]"), "-32602 params must be an object");
  EXPECT_EQ(client.Refused("session/new", "{}"), "-32602 cwd must be a string");
  EXPECT_EQ(client.Refused("session/new", R"({"cwd":"a","mcpServers":[]})"),
            "-32602 cwd must be an absolute path");
  EXPECT_EQ(client.Refused("session/new", R"({"cwd":"/no/such","mcpServers":[]})"),
            "-32602 cwd: there is no folder /no/such");
  EXPECT_EQ(client.Refused("session/new", fmt::format(R"({{"cwd":"{}"}})", project_)),
            "-32602 mcpServers must be an array");
  EXPECT_TRUE(client
                  .Refused("session/new",
                           fmt::format(R"({{"cwd":"{}","mcpServers":[{{"name":"m"}}]}})", project_))
                  .starts_with("-32602 mcpServers: MCP servers are not supported"));
  EXPECT_EQ(client.Refused("session/list", R"({"cursor":"x"})"),
            "-32602 cursor: it is not one that session/list gave");
  EXPECT_TRUE(client.Refused("session/prompt", R"({"sessionId":"ses_none","prompt":[]})")
                  .starts_with("-32002 session ses_none is not open"));
  EXPECT_TRUE(client.Refused("session/delete", R"({"sessionId":"../x"})").starts_with("-32002 "));
  EXPECT_FALSE(client.New(project_).empty());
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, AMissingKeyIsSaidWithWhatToDo) {
  ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                          "[model]\nprovider='anthropic'\nid='claude-sonnet-4-5'\n", Durable::kNo));
  AcpClient client = Start();
  const std::string hello = client.Initialize(R"({"auth":{"terminal":true}})");
  EXPECT_NE(hello.find(R"("id":"key")"), std::string::npos);
  EXPECT_NE(hello.find(R"("type":"terminal","id":"setup")"), std::string::npos);
  const std::string refused =
      client.Refused("session/new", fmt::format(R"({{"cwd":"{}","mcpServers":[]}})", project_));
  EXPECT_TRUE(refused.starts_with("-32000 ")) << refused;
  EXPECT_NE(refused.find("ANTHROPIC_API_KEY"), std::string::npos) << refused;
  EXPECT_TRUE(client.Refused("authenticate", R"({"methodId":"key"})").starts_with("-32000 "));
  EXPECT_TRUE(client.Refused("authenticate", R"({"methodId":"other"})").starts_with("-32602 "));
  EXPECT_EQ(client.End().exit_code, 0);
}

TEST_F(AcpTest, TheEndOfTheInputInTheMiddleOfATurnKeepsEverything) {
  Script(kStallForEver);
  AcpClient client = Start();
  client.Initialize();
  const int prompt = client.Prompt(client.New(project_), "go");
  client.Update("agent_message_chunk");
  const Finished finished = client.End();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(
      finished.out.find(fmt::format(R"("id":{},"result":{{"stopReason":"cancelled"}})", prompt)),
      std::string::npos)
      << finished.out;
  EXPECT_TRUE(Sound());
  EXPECT_NE(Log().find(R"("reason":"cancelled")"), std::string::npos);
}

TEST_F(AcpTest, SoDoesATerminationWhileSomebodyIsAsked) {
  Script(
      R"({"replies":[{"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"x"}}}]}]})");
  AcpClient client = Start();
  client.Initialize();
  client.Prompt(client.New(project_), "go");
  client.Asked("session/request_permission");
  client.Kill(SIGTERM);
  EXPECT_EQ(client.End().exit_code, 0);
  EXPECT_EQ(Content("a.txt"), "(none)");
  EXPECT_TRUE(Sound());
}

TEST_F(AcpTest, AClientThatDoesNotReadIsHeardAllTheSame) {
  Script(kStallForEver);
  AcpClient client = Start();
  client.Initialize();
  const std::string session = client.New(project_);
  const int prompt = client.Prompt(session, "go");
  // More answers than a pipe holds, and the client does not read them.
  constexpr int kMany = 3000;
  int last = 0;
  for (int i = 0; i < kMany; ++i) last = client.Send("no/such/method/at/all", "{}");
  client.Cancel(session);
  EXPECT_EQ(client.StopReason(prompt), "cancelled");
  EXPECT_NE(client.Response(last).find("-32601"), std::string::npos);
  EXPECT_EQ(client.End().exit_code, 0);
}

}  // namespace
}  // namespace stet::scenario
