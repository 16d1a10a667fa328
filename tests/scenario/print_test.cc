// `stet -p`: one turn with the real program.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/json_view.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

class PrintTest : public testing::Test {
 protected:
  PrintTest() {
    EXPECT_TRUE(MakeDirs(project_));
    EXPECT_TRUE(ReplaceFile(project_ + "/README.md", "# hello\nint main is here\n", Durable::kNo));
  }

  Ran Stet(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--cwd", project_});
    return program_.Run(std::move(arguments));
  }
  void Configure(const emulator::Emulator& emulator, const std::string& api,
                 const std::string& suffix) {
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                            "[model]\ntype='custom'\nid='m'\napi='" + api + "'\nbaseUrl='" +
                                emulator.base_url() + suffix + "'\n",
                            Durable::kNo));
  }

  Program program_;
  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
};

TEST_F(PrintTest, TheOfflineModelDoesPlainRequestsWithNothingConfigured) {
  const Ran ran = Stet({"-p", "search main then read README.md"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("# hello"), std::string::npos) << ran.out;
}

TEST_F(PrintTest, WhatWouldBeAskedIsRefusedAndListed) {
  const Ran ran = Stet({"-p", "--output-format", "json", "write a.txt: hello"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_FALSE(Exists(project_ + "/a.txt"));
  const JsonView result(ran.out);
  EXPECT_EQ(result["type"].StringOr(""), "result");
  std::string refused;
  result["permission_denials"].ForEach(
      [&](const JsonView& denial) { refused = denial["tool_name"].StringOr(""); });
  EXPECT_EQ(refused, "Write");
}

TEST_F(PrintTest, AModeLetsFilesInTheProjectBeWritten) {
  const Ran ran = Stet({"-p", "--permission-mode", "acceptEdits",
                        "write a.txt: hello then replace hello with bye in a.txt"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ReadFile(project_ + "/a.txt", 100).value_or(""), "bye");
}

TEST_F(PrintTest, ASessionGoesOnWhereItWas) {
  const Ran first = Stet({"-p", "read README.md"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Ran second = Stet({"-p", "-c", "list files"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  const Ran sessions = program_.Run({"sessions", "ls", "--json"});
  EXPECT_NE(sessions.out.find("\"userMessages\":2"), std::string::npos) << sessions.out;
  const std::string id = sessions.out.substr(sessions.out.find("ses_"), 20);
  const Ran shown = program_.Run({"sessions", "show", id});
  EXPECT_EQ(shown.out.find("[{\"type\""), std::string::npos) << "results are shown as text";
  EXPECT_NE(shown.out.find("int main is here"), std::string::npos) << shown.out;
}

TEST_F(PrintTest, AScriptedTaskRunsInEveryDialectAndLeavesTheSameFiles) {
  struct Dialect {
    const char* api;
    const char* suffix;
  };
  for (const Dialect& dialect :
       {Dialect{"anthropic-messages", ""}, Dialect{"openai-completions", "/v1"},
        Dialect{"openai-responses", "/v1"}, Dialect{"google-generative-ai", "/v1beta"}}) {
    auto emulator = emulator::Emulator::Start(R"({"replies":[
      {"blocks":[{"thinking":"look first","signature":"c2ln"},{"text":"I look."},
        {"call":{"name":"Read","args":{"file_path":"README.md"}}},
        {"call":{"name":"Glob","args":{"pattern":"*"}}}]},
      {"when":{"hasToolResult":true,"call":2},"blocks":[
        {"call":{"name":"Edit","args":{"file_path":"README.md","old_string":"hello","new_string":"world"}}},
        {"call":{"name":"Bash","args":{"command":"cat README.md > copy.txt"}}}]},
      {"when":{"hasToolResult":true,"call":3},"blocks":[{"text":"All done."}],
       "usage":{"input":100,"output":10,"cacheRead":5}}]})");
    ASSERT_TRUE(emulator) << emulator.error().Text();
    Configure(**emulator, dialect.api, dialect.suffix);
    ASSERT_TRUE(ReplaceFile(project_ + "/README.md", "# hello\nint main is here\n", Durable::kNo));
    const Ran ran = Stet({"-p", "--permission-mode", "bypass", "--output-format", "json", "go"});
    EXPECT_EQ(ran.exit_code, 0) << dialect.api << ran.err;
    EXPECT_EQ(JsonView(ran.out)["result"].StringOr(""), "All done.") << dialect.api;
    EXPECT_EQ(JsonView(ran.out)["num_turns"].IntOr(0), 3) << dialect.api;
    EXPECT_EQ(ReadFile(project_ + "/copy.txt", 100).value_or(""), "# world\nint main is here\n")
        << dialect.api;
  }
}

TEST_F(PrintTest, WrongUsageIsSaidWithExitCode2AndAMissingKeyWith5) {
  EXPECT_EQ(Stet({"-p"}).exit_code, 2) << "no prompt";
  EXPECT_EQ(Stet({"-p", "--output-format", "xml", "x"}).exit_code, 2);
  EXPECT_EQ(Stet({"-p", "-c", "-r", "x", "y"}).exit_code, 2);
  EXPECT_EQ(Stet({"-p", "--model", "openai/gpt-5", "x"}).exit_code, 5);
  EXPECT_EQ(Stet({"-p", "-r", "ses_none", "x"}).exit_code, 1);
}

}  // namespace
}  // namespace stet::scenario
