// `stet -p`: one turn with the real program.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "json/view.h"
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

TEST_F(PrintTest, AWrongValueOfAnOptionIsWrongUsageAndLeavesNoSession) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"-p", "x", "--permission-mode", "nope"}, "--permission-mode: nope not in {default,"},
      {{"-p", "x", "--model", "anthropic/"}, "--model: anthropic/ lacks the provider or the id"},
      {{"-p", "x", "--fallback-model", "/x"}, "--fallback-model: /x lacks"},
      {{"-p", "x", "--allowed-tools", "Nope("}, "--allowed-tools: Nope( is no rule: write Tool"},
      {{"-p", "x", "--disallowed-tools", "Read, (a)"},
       "--disallowed-tools: (a) is no rule: write Tool or Tool(...)"},
      {{"-p", "x", "--cwd", "/nowhere"}, "--cwd: there is no folder /nowhere"},
      {{"-p", "x", "--cwd", project_ + "/README.md"}, "--cwd: there is no folder " + project_},
      {{"trust", "BOGUS"}, "PART: BOGUS not in {config,"},
      {{"trust", "--cwd", "/nowhere"}, "--cwd: there is no folder /nowhere"},
  };
  for (const auto& [arguments, said] : cases) {
    const Ran ran = program_.Run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }
  EXPECT_EQ(Stet({"sessions", "ls", "--json"}).out, "[]\n");
}

TEST_F(PrintTest, AToolThatThereIsNotIsWrongUsage) {
  for (const char* tools : {"Nope", "Read,Nope"}) {
    const Ran one = Stet({"-p", "--tools", tools, "read README.md"});
    EXPECT_EQ(one.exit_code, 2) << tools;
    EXPECT_NE(one.err.find("no tool named Nope. There are"), std::string::npos) << one.err;
  }
  EXPECT_EQ(Stet({"-p", "--output-format", "stream-json", "--tools", "Nope", "x"}).exit_code, 2);
}

TEST_F(PrintTest, NamedDefaultAllToolsAreThereAndWithAnEmptyListNone) {
  const Ran all = Stet({"-p", "--tools=default", "--setting-sources=", "read README.md"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_NE(all.out.find("# hello"), std::string::npos) << all.out;
  for (const std::vector<std::string>& none :
       {std::vector<std::string>{"-p", "--tools=", "read README.md"},
        std::vector<std::string>{"-p", "--tools", "", "read README.md"}}) {
    const Ran ran = Stet(none);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out.find("# hello"), std::string::npos) << ran.out;
  }
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

TEST_F(PrintTest, RulesMayBeGivenOneByOne) {
  const Ran ran = Stet(
      {"-p", "--allowed-tools", "Bash(true)", "--allowed-tools", "Write", "write a.txt: hello"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const Ran refused = Stet({"-p", "--disallowed-tools", "Write", "--disallowed-tools", "Read",
                            "--permission-mode", "acceptEdits", "write b.txt: hello"});
  EXPECT_NE(refused.err.find("(rule: deny:Write)"), std::string::npos) << refused.err;
}

TEST_F(PrintTest, OnlyForWhatAnotherRuleOrModeMayAllowIsThatAdvised) {
  constexpr std::string_view kAdvice = "; allow it with --allowed-tools or --permission-mode";
  const Ran asked = Stet({"-p", "write a.txt: hello"});
  EXPECT_NE(asked.err.find("refused: Write "), std::string::npos) << asked.err;
  EXPECT_NE(asked.err.find(kAdvice), std::string::npos) << asked.err;
  const Ran unasked = Stet({"-p", "--permission-mode", "dontAsk", "write a.txt: hello"});
  EXPECT_NE(unasked.err.find(kAdvice), std::string::npos) << unasked.err;
  const Ran forbidden = Stet({"-p", "--disallowed-tools", "Write", "write a.txt: hello"});
  EXPECT_NE(forbidden.err.find("(rule: deny:Write)\n"), std::string::npos) << forbidden.err;
  const Ran planning = Stet({"-p", "--permission-mode", "plan", "write a.txt: hello"});
  EXPECT_NE(planning.err.find("(rule: mode:plan)\n"), std::string::npos) << planning.err;
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

constexpr std::string_view kCount =
    R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false})";

TEST_F(PrintTest, AnAnswerThatMustFitASchemaIsAskedForUntilItDoes) {
  auto emulator = emulator::Emulator::Start(R"({"replies":[{"blocks":[{"text":"It is 7."}]},
    {"blocks":[{"call":{"name":"StructuredOutput","args":{"n":"seven"}}}]},
    {"blocks":[{"call":{"name":"StructuredOutput","args":{"n":7}}}]}]})");
  ASSERT_TRUE(emulator) << emulator.error().Text();
  Configure(**emulator, "anthropic-messages", "");
  const Ran ran = Stet({"-p", "--json-schema", std::string(kCount), "how many?"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "{\"n\":7}\n");
  const std::vector<emulator::RequestRecord> requests = (*emulator)->Requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_NE(requests[1].body.text.find("by calling StructuredOutput"), std::string::npos);
  EXPECT_NE(requests[2].body.text.find("integer"), std::string::npos);
}

TEST_F(PrintTest, AnAnswerThatNeverFitsItsSchemaIsAFailure) {
  auto emulator =
      emulator::Emulator::Start(R"({"replies":[{"times":0,"blocks":[{"text":"Never."}]}]})");
  ASSERT_TRUE(emulator) << emulator.error().Text();
  Configure(**emulator, "anthropic-messages", "");
  const std::string file = dir_.path() + "/schema.json";
  ASSERT_TRUE(ReplaceFile(file, "{\n  \"type\": \"object\"\n}\n", Durable::kNo));
  const Ran ran = Stet({"-p", "--output-format", "json", "--json-schema", file, "how many?"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_EQ(JsonView(ran.out)["subtype"].StringOr(""), "error_max_structured_output_retries");
  EXPECT_FALSE(JsonView(ran.out)["structured_output"]);
  EXPECT_EQ(Stet({"-p", "--json-schema", "{\"type\":\"array\"}", "x"}).exit_code, 2);
  const Ran broken = Stet({"-p", "--json-schema", "{", "x"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_TRUE(broken.err.contains("--json-schema is no JSON")) << broken.err;
}

TEST_F(PrintTest, ATurnEndsWhenItsBudgetOrItsTimeIsSpent) {
  auto emulator = emulator::Emulator::Start(R"({"replies":[{"times":0,
    "blocks":[{"call":{"name":"Read","args":{"file_path":"README.md"}}}],
    "usage":{"input":1000000,"output":1000}}]})");
  ASSERT_TRUE(emulator) << emulator.error().Text();
  ASSERT_TRUE(MakeDirs(program_.home()));
  // A model that has a price, asked elsewhere; any variable that is set will do as its key.
  ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                          "[model]\nprovider='anthropic'\nid='claude-sonnet-5-5'\napiKeyEnv='TZ'\n"
                          "baseUrl='" +
                              (*emulator)->base_url() + "'\n",
                          Durable::kNo));
  const Ran spent = Stet({"-p", "--output-format", "json", "--max-budget-usd", "0.01", "go"});
  EXPECT_EQ(spent.exit_code, 4) << spent.err;
  EXPECT_EQ(JsonView(spent.out)["subtype"].StringOr(""), "error_max_budget_usd");
  EXPECT_EQ(JsonView(spent.out)["num_turns"].IntOr(0), 1);
  EXPECT_GT(std::stod(std::string(JsonView(spent.out)["total_cost_usd"].text())), 0.01);

  ASSERT_TRUE((*emulator)->SetScript(R"({"replies":[{"fault":{"kind":"half_open"}}]})"));
  Configure(**emulator, "anthropic-messages", "");
  const Ran unpriced = Stet({"-p", "--max-budget-usd", "1", "go"});
  EXPECT_EQ(unpriced.exit_code, 1) << "a budget that could not be kept";
  EXPECT_NE(unpriced.err.find("no known price"), std::string::npos) << unpriced.err;
  EXPECT_EQ(Stet({"-p", "--timeout", "0.2", "go"}).exit_code, 124);
}

TEST_F(PrintTest, ATurnThatWasCutShortGoesOnWithoutAPrompt) {
  auto emulator = emulator::Emulator::Start(R"({"replies":[{"fault":{"kind":"half_open"}},
    {"when":{"lastUser":"do it"},"blocks":[{"text":"Done now."}]}]})");
  ASSERT_TRUE(emulator) << emulator.error().Text();
  Configure(**emulator, "anthropic-messages", "");
  EXPECT_EQ(Stet({"-p", "--timeout", "0.2", "do it"}).exit_code, 124);
  const Ran ran = Stet({"-p", "-c"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "Done now.\n");
  const Ran again = Stet({"-p", "-c"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("nothing to go on with"), std::string::npos) << again.err;
}

TEST_F(PrintTest, ACopyLeavesTheSessionAsItWasAndAtGoesBack) {
  auto emulator =
      emulator::Emulator::Start(R"({"replies":[{"times":0,"blocks":[{"text":"Yes."}]}]})");
  ASSERT_TRUE(emulator) << emulator.error().Text();
  Configure(**emulator, "anthropic-messages", "");
  const auto ask = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"-p", "--output-format", "json"});
    const Ran ran = Stet(std::move(more));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return JsonView(ran.out)["session_id"].StringOr("");
  };
  const auto asked = [&] { return (*emulator)->Requests().back().body.text; };
  const auto tree = [&](const std::string& id) {
    return program_.Run({"sessions", "tree", "--json", id}).out;
  };
  const std::string session = ask({"--session-id", "origin", "apricot"});
  EXPECT_EQ(session, "origin");
  // Where the first answer ends.
  const std::string before = tree(session);
  std::string answer;
  JsonView(before)["nodes"].ForEach([&](const JsonView& node) {
    if (node["role"].StringOr("") == "assistant") answer = node["id"].StringOr("");
  });
  ask({"-r", session, "banana"});
  const std::string original = tree(session);

  const std::string copy = ask({"-r", session, "--fork-session", "cherry"});
  EXPECT_NE(copy, session);
  EXPECT_NE(asked().find("banana"), std::string::npos);
  const std::string named =
      ask({"-r", session, "--fork-session", "--at", answer, "--session-id", "branch", "damson"});
  EXPECT_EQ(named, "branch");
  EXPECT_NE(asked().find("apricot"), std::string::npos);
  EXPECT_EQ(asked().find("banana"), std::string::npos);
  EXPECT_EQ(tree(session), original);

  EXPECT_EQ(ask({"-r", session, "--at", answer, "elderberry"}), session);
  EXPECT_NE(asked().find("apricot"), std::string::npos);
  EXPECT_EQ(asked().find("banana"), std::string::npos);
  EXPECT_NE(tree(session).find("banana"), std::string::npos) << "nothing is lost";
}

}  // namespace
}  // namespace stet::scenario
