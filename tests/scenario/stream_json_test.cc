// What the real program writes in stream-json, to the byte where that can be told, and that every
// turn has one result.
#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "tests/scenario/stream_fixture.h"

namespace stet::scenario {
namespace {

constexpr std::string_view kReadThenSay = R"({"replies":[
  {"blocks":[{"thinking":"look first","signature":"c2ln"},{"text":"I look."},
    {"call":{"name":"Read","args":{"file_path":"README.md"}}}],
   "usage":{"input":100,"output":20,"cacheRead":7,"cacheWrite":3}},
  {"when":{"hasToolResult":true},"blocks":[{"text":"It says hello."}],
   "usage":{"input":120,"output":10}}]})";

/// A line with everything that differs from run to run replaced by what it is.
std::string Steady(std::string line, const std::string& project) {
  for (std::size_t at = line.find(project); at != std::string::npos; at = line.find(project))
    line.replace(at, project.size(), "CWD");
  const std::pair<const char*, const char*> kinds[] = {
      {R"(\b(ses|turn|call|e)_[a-z0-9]{16}\b)", "$1"},
      {R"([0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})", "UUID"},
      {R"re(("duration(_api)?_ms":)\d+)re", "$010"}};
  for (const auto& [pattern, name] : kinds)
    line = std::regex_replace(line, std::regex(pattern), name);
  return line;
}

std::vector<std::string> ResultSubtypes(const StreamLines& lines) {
  std::vector<std::string> subtypes;
  for (const StreamLine& line : OfType(lines, "result"))
    subtypes.push_back(line.json()["subtype"].StringOr(""));
  return subtypes;
}

TEST_F(StreamTest, EveryLineHasItsShapeAndTheFirstOneSaysHowTheSessionStands) {
  Play(kReadThenSay);
  const Ran ran = Run({"--tools", "Read,Glob", "look"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::vector<std::string> told;
  for (const StreamLine& line : LinesOf(ran.out)) told.push_back(Steady(line.text, project_));
  const std::string head =
      R"({"type":"assistant","message":{"id":"e","type":"message","role":"assistant","model":"custom/m","content":[)";
  const auto rest = [](const char* usage) {
    return fmt::format(
        R"(],"stop_reason":null,"stop_sequence":null,"usage":{{{}}}}},"parent_tool_use_id":null,)"
        R"("event_id":"e","session_id":"ses","uuid":"UUID"}})",
        usage);
  };
  const std::string first = rest(
      R"("input_tokens":100,"output_tokens":20,"cache_creation_input_tokens":3,"cache_read_input_tokens":7)");
  ASSERT_EQ(told.size(), 7U) << ran.out;
  const std::string version = program_.Run({"--version"}).out.substr(5);
  EXPECT_EQ(
      told[0],
      fmt::format(
          R"({{"type":"system","subtype":"init","cwd":"CWD","tools":["Glob","Read"],"mcp_servers":[],)"
          R"("model":"custom/m","permissionMode":"default","slash_commands":[],"apiKeySource":"none",)"
          R"("agents":[],"skills":[],"plugins":[],"output_style":"default","stet_version":"{0}",)"
          R"("claude_code_version":"{0}","session_id":"ses","uuid":"UUID"}})",
          version.substr(0, version.find('\n'))));
  EXPECT_EQ(told[1],
            head + R"({"type":"thinking","thinking":"look first","signature":"c2ln"})" + first);
  EXPECT_EQ(told[2], head + R"({"type":"text","text":"I look."})" + first);
  EXPECT_EQ(
      told[3],
      head + R"({"type":"tool_use","id":"call","name":"Read","input":{"file_path":"README.md"}})" +
          first);
  EXPECT_EQ(
      told[4],
      R"({"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call",)"
      R"("content":"     1\t# hello\n","is_error":false}]},"parent_tool_use_id":null,)"
      R"("tool_use_result":{"isError":false,"content":[{"type":"text","text":"     1\t# hello\n"}]},)"
      R"("event_id":"e","session_id":"ses","uuid":"UUID"})");
  EXPECT_EQ(
      told[5],
      head + R"({"type":"text","text":"It says hello."})" +
          rest(
              R"("input_tokens":120,"output_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0)"));
  const JsonView result(told[6]);
  EXPECT_EQ(result["subtype"].StringOr(""), "success");
  EXPECT_EQ(result["is_error"].Bool(), false);
  EXPECT_EQ(result["result"].StringOr(""), "It says hello.");
  EXPECT_EQ(result["stop_reason"].StringOr(""), "end_turn");
  EXPECT_EQ(result["num_turns"].IntOr(0), 2);
  EXPECT_EQ(
      result["usage"].text(),
      R"({"input_tokens":220,"output_tokens":30,"cache_read_input_tokens":7,"cache_creation_input_tokens":3})");
  EXPECT_EQ(result["modelUsage"]["custom/m"]["inputTokens"].IntOr(0), 220);
  EXPECT_EQ(result["terminal_reason"].StringOr(""), "completed");
  EXPECT_EQ(result["queued_turn_count"].IntOr(9), 0);
}

TEST_F(StreamTest, ALimitAFailureAndATimeoutHaveTheirOneResult) {
  const std::string_view looping = R"({"replies":[{"times":0,"blocks":[
    {"call":{"name":"Read","args":{"file_path":"README.md"}}}]}]})";
  Play(looping);
  Ran ran = Run({"--max-turns", "2", "go"});
  EXPECT_EQ(ran.exit_code, 4) << ran.err;
  EXPECT_EQ(ResultSubtypes(LinesOf(ran.out)), std::vector<std::string>{"error_max_turns"});

  Play(R"({"replies":[{"fault":{"kind":"status","status":400,"message":"that was wrong"}}]})");
  ran = Run({"go"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  StreamLines lines = LinesOf(ran.out);
  EXPECT_EQ(ResultSubtypes(lines), std::vector<std::string>{"error_during_execution"});
  EXPECT_NE(lines.back().json()["errors"].text().find("that was wrong"), std::string::npos);
  EXPECT_EQ(lines.back().json()["terminal_reason"].StringOr(""), "api_error");

  Play(R"({"replies":[{"fault":{"kind":"half_open"}}]})");
  ran = Run({"--timeout", "0.2", "go"});
  EXPECT_EQ(ran.exit_code, 124) << ran.err;
  lines = LinesOf(ran.out);
  EXPECT_EQ(ResultSubtypes(lines), std::vector<std::string>{"error_during_execution"});
  EXPECT_EQ(lines.back().json()["terminal_reason"].StringOr(""), "timeout");
}

TEST_F(StreamTest, ASessionThatCannotBeOpenedIsAResultToo) {
  const Ran ran = Feed(UserLine("hello") + "\n" + UserLine("again"), {"--resume", "ses_none"});
  EXPECT_EQ(ran.exit_code, 1);
  const StreamLines lines = LinesOf(ran.out);
  EXPECT_EQ(ResultSubtypes(lines), std::vector<std::string>{"error_during_execution"});
  EXPECT_NE(lines.back().text.find("ses_none"), std::string::npos);
}

TEST_F(StreamTest, ARetryIsTold) {
  Play(R"({"replies":[{"fault":{"kind":"overload"}},{"blocks":[{"text":"Now."}]}]})");
  const Ran ran = Run({"go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const StreamLines lines = LinesOf(ran.out);
  ASSERT_EQ(lines.size(), 4U) << ran.out;
  const JsonView retry = lines[1].json();
  EXPECT_EQ(retry["subtype"].StringOr(""), "api_retry");
  EXPECT_EQ(retry["attempt"].IntOr(0), 1);
  EXPECT_EQ(retry["error"].StringOr(""), "overloaded");
  EXPECT_GT(retry["retry_delay_ms"].IntOr(0), 0);
}

TEST_F(StreamTest, WhatPolicyDeniesIsTold) {
  Play(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":"touch x"}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"text":"I may not."}]}]})");
  const Ran ran = Run({"--permission-mode", "dontAsk", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const StreamLines lines = LinesOf(ran.out);
  const StreamLines system = OfType(lines, "system");
  ASSERT_EQ(system.size(), 2U) << ran.out;
  EXPECT_EQ(system[1].json()["subtype"].StringOr(""), "permission_denied");
  EXPECT_EQ(system[1].json()["tool_name"].StringOr(""), "Bash");
}

TEST_F(StreamTest, ThePartsOfAReplyMakeUpTheWholeInEveryDialect) {
  struct Dialect {
    const char* api;
    const char* suffix;
  };
  for (const Dialect& dialect :
       {Dialect{"anthropic-messages", ""}, Dialect{"openai-completions", "/v1"},
        Dialect{"openai-responses", "/v1"}, Dialect{"google-generative-ai", "/v1beta"}}) {
    SCOPED_TRACE(dialect.api);
    Play(R"({"replies":[{"delta":3,"blocks":[{"thinking":"Hm, let me see.","signature":"c2ln"},
        {"text":"Ünïcode text that comes in parts."},
        {"call":{"name":"Read","args":{"file_path":"README.md"}}},
        {"call":{"name":"Glob","args":{"pattern":"*"}}}]},
      {"delta":3,"when":{"hasToolResult":true},"blocks":[{"text":"And the end."}]}]})",
         dialect.api, dialect.suffix);
    const Ran ran = Run({"--include-partial-messages", "go"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    std::map<std::int64_t, std::string> open;
    std::string parts;  // What the stream said, block by block.
    std::string whole;  // What the messages say.
    for (const StreamLine& line : LinesOf(ran.out)) {
      const JsonView event = line.json()["event"];
      const std::string type = event["type"].StringOr("");
      const std::int64_t index = event["index"].IntOr(-1);
      if (type == "message_start" || type == "message_stop") {
        EXPECT_TRUE(open.empty()) << line.text;
      }
      if (type == "content_block_start") {
        EXPECT_FALSE(open.contains(index));
        open[index] = event["content_block"]["type"].StringOr("") + ":" +
                      event["content_block"]["name"].StringOr("");
      }
      if (type == "content_block_delta") {
        ASSERT_TRUE(open.contains(index)) << line.text;
        for (const char* member : {"text", "thinking", "partial_json"})
          open[index] += event["delta"][member].StringOr("");
      }
      if (type == "content_block_stop") {
        parts += open[index] + "\n";
        open.erase(index);
      }
      if (line.type() != "assistant") continue;
      line.json()["message"]["content"].ForEach([&](const JsonView& block) {
        whole += block["type"].StringOr("") + ":" + block["name"].StringOr("") +
                 block["text"].StringOr("") + block["thinking"].StringOr("") +
                 std::string(block["input"].text()) + "\n";
      });
    }
    EXPECT_EQ(parts, whole) << ran.out;
    EXPECT_NE(whole.find("And the end."), std::string::npos) << whole;
  }
}

TEST_F(StreamTest, NoLineIsTornHoweverMuchIsSaid) {
  const std::string word(300'000, 'x');
  Play(fmt::format(
      R"({{"replies":[{{"delta":5000,"blocks":[{{"text":"{0}"}}]}},{{"blocks":[{{"text":"{0}"}}]}}]}})",
      word));
  const Ran ran = Feed(UserLine("one") + "\n" + UserLine("two") + "\n",
                       {"--include-partial-messages", "--replay-user-messages"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const StreamLines lines = LinesOf(ran.out);
  EXPECT_EQ(OfType(lines, "result").size(), 2U);
  ASSERT_EQ(OfType(lines, "user").size(), 2U);
  EXPECT_EQ(OfType(lines, "user")[1].json()["message"]["content"].StringOr(""), "two");
  EXPECT_EQ(OfType(lines, "result")[0].json()["result"].StringOr("").size(), word.size());
}

}  // namespace
}  // namespace stet::scenario
