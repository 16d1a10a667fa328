// Hooks with the real program: what they are given, and what they can do.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "json/view.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

class HooksTest : public ScriptedTest {
 protected:
  HooksTest() { EXPECT_TRUE(ReplaceFile(project_ + "/a.txt", "one\n", Durable::kNo)); }

  /// What the hooks wrote to the file of this name.
  std::string Written(const std::string& name) {
    return ReadFile(project_ + "/" + name, 1 << 20).value_or("");
  }
};

constexpr std::string_view kOneCall = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"echo hi > out.txt"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

std::string Hook(const std::string& event, const std::string& command,
                 const std::string& more = "") {
  return "[[hooks." + event + "]]\ncommand='''" + command + "'''\n" + more;
}

TEST_F(HooksTest, NeitherHooksNorCommandsGetAKeyOfAnyModelInTheirEnvironment) {
  Script(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":"env >> env.txt"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})",
         "apiKeyEnv='PLAIN_NAME'\n"
         "[models.other]\ntype='custom'\nid='n'\napi='anthropic-messages'\n"
         "baseUrl='http://127.0.0.1:9'\napiKeyEnv='OTHER_NAME'\n" +
             Hook("SessionStart", "env >> env.txt") + Hook("PreToolUse", "env >> env.txt"));
  SpawnOptions options =
      program_.Options({"--cwd", project_, "-p", "--permission-mode", "bypass", "go"});
  for (const char* name : {"PLAIN_NAME", "OTHER_NAME", "OPENAI_API_KEY"})
    options.env->push_back(std::string(name) + "=open-sesame");
  options.env->emplace_back("ANY_NAME=anything");
  const Result<Finished> done =
      Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(1)), {});
  ASSERT_TRUE(done && done->exit_code == 0) << (done ? done->err : "");
  const std::string seen = Written("env.txt");
  std::size_t times = 0;
  for (std::size_t at = seen.find("ANY_NAME="); at != std::string::npos;
       at = seen.find("ANY_NAME=", at + 1))
    ++times;
  EXPECT_EQ(times, 3U) << seen;
  EXPECT_EQ(seen.find("open-sesame"), std::string::npos) << seen;
}

TEST_F(HooksTest, TheSameDumpHookIsGivenTheDocumentedMembers) {
  std::string hooks;
  for (const char* event : {"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse",
                            "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Stop"})
    hooks += Hook(event, "cat >> dump.jsonl");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Read","args":{"file_path":"a.txt"}}},
               {"call":{"name":"Read","args":{"file_path":"none.txt"}}},
               {"call":{"name":"Bash","args":{"command":"touch b"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})",
         hooks);
  const Ran ran = Stet({"-p", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::set<std::string> common = {"session_id", "transcript_path", "cwd", "permission_mode",
                                        "hook_event_name"};
  const std::map<std::string, std::set<std::string>> own = {
      {"SessionStart", {"source", "model"}},
      {"SessionEnd", {"reason"}},
      {"UserPromptSubmit", {"turn_id", "prompt"}},
      {"PreToolUse", {"turn_id", "tool_name", "tool_input", "tool_use_id"}},
      {"PostToolUse", {"turn_id", "tool_name", "tool_input", "tool_use_id", "tool_response"}},
      {"PostToolUseFailure",
       {"turn_id", "tool_name", "tool_input", "tool_use_id", "error", "is_interrupt"}},
      {"PermissionRequest", {"turn_id", "tool_name", "tool_input", "tool_use_id", "reason"}},
      {"Stop", {"turn_id", "stop_hook_active", "last_assistant_message"}}};
  std::set<std::string> seen;
  const std::string dump = Written("dump.jsonl");
  for (std::size_t at = 0; at < dump.size();) {
    const std::size_t end = dump.find('\n', at);
    const std::string line = dump.substr(at, end - at);
    at = end + 1;
    const std::string event = JsonView(line)["hook_event_name"].StringOr("");
    ASSERT_TRUE(own.contains(event)) << line;
    seen.insert(event);
    std::set<std::string> expected = common;
    expected.insert(own.at(event).begin(), own.at(event).end());
    std::set<std::string> keys;
    JsonView(line).ForEachMember(
        [&](std::string_view key, const JsonView&) { keys.insert(std::string(key)); });
    EXPECT_EQ(keys, expected) << line;
    EXPECT_TRUE(Exists(JsonView(line)["transcript_path"].StringOr(""))) << line;
  }
  EXPECT_EQ(seen.size(), own.size());
}

TEST_F(HooksTest, ADenialWinsOverAnAllowAndBypass) {
  Script(kOneCall,
         Hook("PreToolUse", R"(echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}')") +
             Hook("PreToolUse", "echo not today >&2; exit 2", "matcher='Bash'\n"));
  const Ran ran = Stet({"-p", "--permission-mode", "bypass", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_FALSE(Exists(project_ + "/out.txt"));
  EXPECT_NE(Request(1).find("not today (rule: hook:PreToolUse/2)"), std::string::npos)
      << Request(1);
}

TEST_F(HooksTest, AnAllowLiftsWhatWouldBeAskedButNoRule) {
  const std::string allow =
      Hook("PreToolUse", R"(echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}')");
  Script(kOneCall, allow);
  EXPECT_EQ(Stet({"-p", "go"}).exit_code, 0);
  EXPECT_TRUE(Exists(project_ + "/out.txt"));
  EXPECT_NE(Log().find(R"("by":"hook:PreToolUse/1")"), std::string::npos);
  for (const char* rule : {"deny=['Bash']", "ask=['Bash']", "hard=['Bash']"}) {
    ASSERT_TRUE(RemoveTree(project_ + "/out.txt"));
    Script(kOneCall, allow + "[policy]\n" + rule + "\n");
    EXPECT_EQ(Stet({"-p", "go"}).exit_code, 0) << rule;
    EXPECT_FALSE(Exists(project_ + "/out.txt")) << rule;
  }
}

TEST_F(HooksTest, ANewInputIsCheckedAndDecidedAgain) {
  const auto update = [](const std::string& input) {
    return Hook("PreToolUse", R"(echo '{"hookSpecificOutput":{"updatedInput":)" + input + R"(}}')");
  };
  Script(kOneCall, update(R"({"command":"echo changed > out.txt"})"));
  EXPECT_EQ(Stet({"-p", "--permission-mode", "bypass", "go"}).exit_code, 0);
  EXPECT_EQ(Written("out.txt"), "changed\n");
  EXPECT_NE(Log().find(R"("args":{"command":"echo changed > out.txt"})"), std::string::npos);
  Script(kOneCall, update(R"({"cmd":"x"})"));
  EXPECT_EQ(Stet({"-p", "--permission-mode", "bypass", "go"}).exit_code, 0);
  EXPECT_NE(Request(1).find("as a hook changed it"), std::string::npos) << Request(1);
  Script(kOneCall, update(R"({"command":"rm -rf x"})") + "[policy]\ndeny=['Bash(rm *)']\n");
  EXPECT_EQ(Stet({"-p", "--permission-mode", "bypass", "go"}).exit_code, 0);
  EXPECT_NE(Request(1).find("deny:Bash(rm *)"), std::string::npos) << Request(1);
}

TEST_F(HooksTest, APermissionRequestIsAnsweredInTheUsersPlace) {
  Script(kOneCall, Hook("PermissionRequest",
                        R"(echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}')"));
  EXPECT_EQ(Stet({"-p", "go"}).exit_code, 0);
  EXPECT_TRUE(Exists(project_ + "/out.txt"));
}

TEST_F(HooksTest, ContextIsToldOnceAndABlockedPromptNever) {
  Script(kOneCall, Hook("SessionStart", "echo the house is red") +
                       Hook("UserPromptSubmit",
                            "if grep -q secret; then echo no secrets >&2; exit 2; fi; "
                            "echo the prompt is fine") +
                       Hook("PostToolUse", R"(echo '{"decision":"block","reason":"untidy"}')"));
  const Ran blocked = Stet({"-p", "the secret is 42"});
  EXPECT_EQ(blocked.exit_code, 3);
  EXPECT_NE(blocked.err.find("a hook blocked the prompt: no secrets"), std::string::npos)
      << blocked.err;
  EXPECT_EQ(emulator_->Requests().size(), 0U);
  const Ran ran = Stet({"-p", "-c", "--permission-mode", "bypass", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::string last = Request(1);
  EXPECT_EQ(last.find("the secret"), std::string::npos);
  EXPECT_NE(last.find("the house is red"), std::string::npos) << last;
  EXPECT_NE(last.find("the prompt is fine"), std::string::npos) << last;
  EXPECT_NE(last.find("It objects to your call of Bash: untidy"), std::string::npos) << last;
  EXPECT_EQ(last.find("the house is red"), last.rfind("the house is red"));
  EXPECT_NE(Log().find(R"("by":"hook:PostToolUse/1","item":{"kind":"hook","origin":"hook")"),
            std::string::npos)
      << Log();
}

TEST_F(HooksTest, AStopHookSendsTheModelOnUntilNothingComesOfIt) {
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})",
         Hook("Stop", "cat >> stops.jsonl; echo the tests fail >&2; exit 2"));
  const Ran ran = Stet({"-p", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(emulator_->Requests().size(), 4U);
  EXPECT_NE(Request(3).find("You are not done yet: the tests fail"), std::string::npos);
  EXPECT_NE(ran.err.find("hook:Stop/1: it did not let the turn end 3 times"), std::string::npos)
      << ran.err;
  const std::string stops = Written("stops.jsonl");
  EXPECT_NE(stops.find("\"stop_hook_active\":false"), std::string::npos);
  EXPECT_NE(stops.find("\"stop_hook_active\":true"), std::string::npos);
}

TEST_F(HooksTest, AHookEndsTheTurn) {
  Script(kOneCall, Hook("PreToolUse", R"(echo '{"continue":false,"stopReason":"enough"}')"));
  const Ran ran = Stet({"-p", "--permission-mode", "bypass", "go"});
  EXPECT_NE(ran.err.find("enough"), std::string::npos) << ran.err;
  EXPECT_EQ(emulator_->Requests().size(), 1U);
  EXPECT_FALSE(Exists(project_ + "/out.txt"));
}

TEST_F(HooksTest, WhatAHookRaisesHoldsTheTurnUpUntilOneClearsIt) {
  const std::string raise =
      Hook("SessionStart",
           R"(echo '{"findings":[{"id":"lint","policy":"lint","text":"dirty",)"
           R"("severity":"hard-deny"}]}')",
           "matcher='startup'\n");
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})", raise);
  const Ran held = Stet({"-p", "--output-format", "json", "go"});
  EXPECT_NE(held.out.find("dirty"), std::string::npos) << held.out;
  Configure(raise + Hook("UserPromptSubmit",
                         R"(echo '{"findings":[{"id":"lint","action":"clear","text":"clean"}]}')"));
  const Ran cleared = Stet({"-p", "-c", "--output-format", "json", "go"});
  EXPECT_EQ(cleared.out.find("dirty"), std::string::npos) << cleared.out;
  const std::string log = Log();
  EXPECT_NE(log.find(R"("findingId":"lint","policy":"lint","severity":"hard-deny")"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find(R"("findingId":"lint","reason":"clean","by":"hook:UserPromptSubmit/1")"),
            std::string::npos)
      << log;
}

TEST_F(HooksTest, AResultCanBeShownOtherwise) {
  Script(kOneCall,
         Hook("PostToolUse",
              R"x(echo '{"hookSpecificOutput":{"updatedToolOutput":"(hidden by a hook)"}}')x"));
  EXPECT_EQ(Stet({"-p", "--permission-mode", "bypass", "go"}).exit_code, 0);
  EXPECT_NE(Request(1).find("(hidden by a hook)"), std::string::npos) << Request(1);
}

TEST_F(HooksTest, OneThatHangsHoldsNothingUpForLong) {
  Script(kOneCall, Hook("PreToolUse", "sleep 1000", "timeout=1\n"));
  const Ran ran = Stet({"-p", "--permission-mode", "bypass", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(Exists(project_ + "/out.txt"));
  EXPECT_NE(ran.err.find("it was stopped after 1 s"), std::string::npos) << ran.err;
}

TEST_F(HooksTest, AProjectsOwnDoNotRunAndAreListedAsOff) {
  ASSERT_TRUE(MakeDirs(project_ + "/.stet"));
  ASSERT_TRUE(ReplaceFile(project_ + "/.stet/config.toml",
                          "[[hooks.SessionStart]]\ncommand='touch owned'\n", Durable::kNo));
  Script(kOneCall, Hook("Stop", "true"));
  EXPECT_EQ(Stet({"-p", "go"}).exit_code, 0);
  EXPECT_FALSE(Exists(project_ + "/owned"));
  const Ran ran = program_.Run({"hooks", "ls", project_});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("config.toml:6\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("touch owned"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("(off: the project is not trusted)"), std::string::npos) << ran.out;
}

TEST_F(HooksTest, AMatcherThatIsNoneIsSaidWithItsPlace) {
  Script(kOneCall, Hook("PreToolUse", "true", "matcher='(x'\n"));
  const Ran ran = Stet({"-p", "go"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_NE(ran.err.find("the matcher of a hook"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace stet::scenario
