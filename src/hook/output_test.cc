#include "hook/output.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "config/settings.h"
#include "json/view.h"

namespace stet::hook {
namespace {

Output Read(Event event, std::string_view text) {
  Result<Output> output = ReadOutput(event, text);
  EXPECT_TRUE(output) << output.error().Text();
  return output.value_or(Output());
}

std::string ErrorOf(Event event, std::string_view text) {
  const Result<Output> output = ReadOutput(event, text);
  return output ? "none" : output.error().Text();
}

TEST(OutputTest, TextIsContextWhereAnEventTakesIt) {
  EXPECT_EQ(Read(Event::kSessionStart, " hello\n").context, "hello");
  EXPECT_EQ(Read(Event::kUserPromptSubmit, "hello").context, "hello");
  EXPECT_EQ(Read(Event::kPreToolUse, "hello"), Output());
  EXPECT_EQ(Read(Event::kStop, ""), Output());
}

TEST(OutputTest, ADecisionAboutACall) {
  Output expected;
  expected.permission = Permission::kAsk;
  expected.reason = "look";
  expected.updated_input = Raw{R"({"command":"ls"})"};
  expected.context = "c";
  EXPECT_EQ(Read(Event::kPreToolUse, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
      "permissionDecision":"ask","permissionDecisionReason":"look",
      "updatedInput":{"command":"ls"},"additionalContext":"c"}})"),
            expected);
  EXPECT_EQ(Read(Event::kPreToolUse, R"({"decision":"block","reason":"no"})").permission,
            Permission::kDeny);
  EXPECT_EQ(Read(Event::kPreToolUse, R"({"decision":"approve"})").permission, Permission::kAllow);
  EXPECT_EQ(Read(Event::kPreToolUse, R"({"hookSpecificOutput":{"permissionDecision":"defer"}})"),
            Output());
}

TEST(OutputTest, AnAnswerInTheUsersPlace) {
  Output expected;
  expected.permission = Permission::kDeny;
  expected.reason = "no";
  expected.interrupts = true;
  EXPECT_EQ(Read(Event::kPermissionRequest,
                 R"({"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no",
                 "interrupt":true}}})"),
            expected);
}

TEST(OutputTest, AMemberOfTheWrongKindIsNamed) {
  EXPECT_NE(ErrorOf(Event::kStop, R"({"continue":"no"})").find("continue"), std::string::npos);
  EXPECT_NE(ErrorOf(Event::kStop, R"({"decision":"maybe"})").find("decision"), std::string::npos);
  EXPECT_NE(ErrorOf(Event::kStop, R"({"systemMessage":1})").find("systemMessage"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Event::kPreToolUse, R"({"hookSpecificOutput":{"updatedInput":[]}})")
                .find("updatedInput"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Event::kPreToolUse, R"({"hookSpecificOutput":{"permissionDecision":"yes"}})")
                .find("permissionDecision"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Event::kStop, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse"}})")
                .find("another event"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Event::kStop, R"({"findings":[{"id":""}]})").find("findings.id"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Event::kStop, "{\"a\":").find("no JSON"), std::string::npos);
  EXPECT_NE(ErrorOf(Event::kStop, std::string(100'000, '{')).find("no JSON"), std::string::npos);
}

TEST(OutputTest, TextsAreBoundedAndAreUtf8) {
  const Output long_one = Read(Event::kSessionStart, std::string(100'000, 'x'));
  EXPECT_LT(long_one.context.size(), kMaxTextBytes + 100);
  EXPECT_NE(long_one.context.find("were left out"), std::string::npos);
  EXPECT_EQ(BlockOf(Event::kStop, "a\xff").reason, "a\xEF\xBF\xBD");
}

TEST(VerdictTest, ADenialWinsAndEverythingElseAddsUpInOrder) {
  Verdict verdict;
  const auto add = [&](const char* by, Event event, const char* json) {
    Add(verdict, {.by = by, .output = Read(event, json), .trouble = {}});
  };
  constexpr Event kEvent = Event::kPreToolUse;
  add("1", kEvent,
      R"({"systemMessage":"m","hookSpecificOutput":{"permissionDecision":"allow",
      "additionalContext":"one","updatedInput":{"a":1}}})");
  add("2", kEvent,
      R"({"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}})");
  add("3", kEvent,
      R"({"hookSpecificOutput":{"permissionDecision":"ask","additionalContext":"three",
      "updatedInput":{"a":3}},"findings":[{"id":"f","text":"t"}]})");
  Add(verdict, {.by = "4", .output = {}, .trouble = "broken"});
  EXPECT_EQ(verdict.permission, Permission::kDeny);
  EXPECT_EQ(verdict.decided, (Said{"2", "no"}));
  EXPECT_EQ(verdict.updated_input, Raw{R"({"a":3})"});
  EXPECT_EQ(verdict.updated_by, "3");
  EXPECT_EQ(verdict.contexts, (std::vector<Said>{{"1", "one"}, {"3", "three"}}));
  EXPECT_EQ(verdict.messages, (std::vector<Said>{{"1", "m"}, {"4", "broken"}}));
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].change.severity, "soft-deny");
  EXPECT_FALSE(verdict.blocks);
}

/// The lines of the blocks of doc/format/hooks.md that begin with this.
std::vector<std::string> ExamplesOf(std::string_view fence) {
  const std::string text = *ReadFile(SourceDir() + "/doc/format/hooks.md");
  std::vector<std::string> lines;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```"))
      inside = line == fence;
    else if (inside)
      lines.push_back(line);
  }
  return lines;
}

TEST(HookFormatTest, EveryOutputInTheDocumentIsGood) {
  const std::vector<std::string> any = ExamplesOf("```json output");
  ASSERT_GE(any.size(), 5U);
  for (const std::string& line : any) EXPECT_EQ(ErrorOf(Event::kStop, line), "none") << line;
  for (const Event event : {Event::kPreToolUse, Event::kPostToolUse, Event::kPermissionRequest}) {
    const std::vector<std::string> own = ExamplesOf("```json " + std::string(EventName(event)));
    EXPECT_FALSE(own.empty());
    for (const std::string& line : own) {
      EXPECT_EQ(ErrorOf(event, line), "none") << line;
      EXPECT_NE(Read(event, line), Output()) << line;
    }
  }
}

TEST(HookFormatTest, EveryEventHasAnInputInTheDocumentThatIsMadeTheSame) {
  const Moment moment{.session_id = "ses_1",
                      .transcript_path = "/s/events.jsonl",
                      .cwd = "/p",
                      .permission_mode = "default",
                      .turn_id = "trn_1"};
  Moment outside = moment;
  outside.turn_id.clear();
  const Raw ls{R"({"command":"ls"})"};
  const Raw make{R"({"command":"make"})"};
  const Raw file{R"({"file_path":"b"})"};
  const ToolFacts bash{"Bash", ls, "call_1"};
  const std::vector<std::string> made = {
      InputOf(outside, OnSessionStart("startup", "mine/m")),
      InputOf(outside, OnSessionEnd("other")),
      InputOf(moment, OnUserPromptSubmit("go")),
      InputOf(moment, OnPreToolUse(bash)),
      InputOf(moment, OnPostToolUse(bash, "a.txt", R"({"exitCode":0})")),
      InputOf(moment, OnPostToolUseFailure({"Read", file, "call_2"}, "There is no b.", false)),
      InputOf(moment, OnPermissionRequest({"Bash", make, "call_3"}, "it runs a command")),
      InputOf(moment, OnNotification("permission_prompt", "Bash waits for your word: make")),
      InputOf(moment, OnPreCompact("manual", "keep the plan")),
      InputOf(moment, OnPostCompact("manual", "What was said ...")),
      InputOf(moment, OnStop(false, "Done.")),
      InputOf(moment, OnTaskCreated("1", "make -j2")),
      InputOf(outside, OnTaskCompleted("1", "The background command 1 has ended (exit code 0).")),
  };
  const std::vector<std::string> lines = ExamplesOf("```json");
  ASSERT_EQ(lines.size(), config::kHookEvents.size());
  for (const std::string_view event : config::kHookEvents) {
    const bool found = std::ranges::any_of(lines, [&](const std::string& line) {
      return JsonView(line)["hook_event_name"].StringOr("") == event;
    });
    EXPECT_TRUE(found) << event;
  }
  for (const std::string& line : made)
    EXPECT_NE(std::ranges::find(lines, line), lines.end()) << line;
}

TEST(HookFormatTest, TheConfigurationInTheDocumentIsRead) {
  std::string toml;
  for (const std::string& line : ExamplesOf("```toml")) toml += line + "\n";
  const Result<config::Settings> settings = config::ParseSettings(toml, "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  EXPECT_EQ(settings->hooks.size(), 5U);
}

}  // namespace
}  // namespace stet::hook
