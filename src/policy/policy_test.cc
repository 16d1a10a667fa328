#include "policy/policy.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

Rules In(Mode mode, std::string_view allow = "", std::string_view deny = "") {
  return {.mode = mode,
          .project = "/p",
          .allow = *ParseRules(allow),
          .ask = {},
          .deny = *ParseRules(deny)};
}

Question Command(const std::string& command) {
  return {.tool = "Bash", .effects = true, .reads = {}, .writes = {}, .command = command};
}

Question Write(const std::string& path) {
  return {.tool = "Write", .effects = true, .reads = {}, .writes = {path}, .command = ""};
}

Question Read(const std::string& path) {
  return {.tool = "Read", .effects = false, .reads = {path}, .writes = {}, .command = ""};
}

TEST(PolicyTest, ReadingInsideTheProjectIsAllowedAndOutsideAsked) {
  const Rules rules = In(Mode::kDefault);
  EXPECT_EQ(Decide(rules, Read("/p/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Read("/p")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Read("/pq/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, Read("/etc/passwd")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, ChangesAndCommandsAreAsked) {
  const Rules rules = In(Mode::kDefault);
  EXPECT_EQ(Decide(rules, Write("/p/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, Command("ls")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, EachModeIsWhatItsNameSays) {
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Write("/p/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Write("/q/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Command("ls")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(In(Mode::kPlan, "Write"), Write("/p/a")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kPlan), Read("/p/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kBypass), Command("rm -rf /")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kBypass, "", "Bash(rm *)"), Command("rm -rf /")).verdict,
            Verdict::kDeny);
}

TEST(PolicyTest, ARuleForACommandCoversNoOtherBehindIt) {
  const Rules rules = In(Mode::kDefault, "Bash(git status*),Read");
  EXPECT_EQ(Decide(rules, Command("git status")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("git status -s")).verdict, Verdict::kAllow);
  for (const char* trick : {"git status; rm -rf x", "git status && x", "git status\nrm x",
                            "git status $(rm x)", "git status `rm x`", "git status > x", "git log"})
    EXPECT_EQ(Decide(rules, Command(trick)).verdict, Verdict::kAsk) << trick;
}

TEST(PolicyTest, AutoRunsWhatIsKnownToBeHarmlessAndAsksAboutTheRest) {
  const Rules rules = In(Mode::kAuto);
  EXPECT_EQ(Decide(rules, Write("/p/a")).verdict, Verdict::kAllow);
  for (const char* harmless :
       {"ls -la src", "git status", "git diff --stat", "cat a b", "date +%s"})
    EXPECT_EQ(Decide(rules, Command(harmless)).verdict, Verdict::kAllow) << harmless;
  for (const char* asked :
       {"rm a", "ls; rm a", "cat /etc/passwd", "cat ../x", "git push", "git -c core.pager=x log",
        "git diff --output x", "date -s 1", "cat a > b", "find . -delete", "A=b ls", ""})
    EXPECT_NE(Decide(rules, Command(asked)).verdict, Verdict::kAllow) << asked;
}

TEST(PolicyTest, DontAskDeniesWhatWouldBeAsked) {
  EXPECT_EQ(Decide(In(Mode::kDontAsk), Command("ls")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kDontAsk, "Bash(ls)"), Command("ls")).verdict, Verdict::kAllow);
}

TEST(PolicyTest, AGrantCoversTheSameCallAgainAndNothingElse) {
  Rules rules = In(Mode::kDefault);
  const Question command = Command("rm *");
  rules.allow.push_back(GrantFrom(RuleText(GrantFor(rules, command))));
  EXPECT_EQ(Decide(rules, command).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("rm x")).verdict, Verdict::kAsk) << "the star is a star";
  rules.allow.push_back(GrantFor(rules, Command("make && (cd a; ls)")));
  EXPECT_EQ(Decide(rules, Command("make && (cd a; ls)")).verdict, Verdict::kAllow);
  rules.allow.push_back(GrantFor(rules, Write("/p/a")));
  EXPECT_EQ(Decide(rules, Write("/p/b")).verdict, Verdict::kAllow) << "files of the project";
  rules = In(Mode::kDefault);
  rules.allow.push_back(GrantFor(rules, Write("/q/a")));
  EXPECT_EQ(Decide(rules, Write("/q/b")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, AnAddressIsAskedUnlessItsDomainIsAllowed) {
  const Rules rules = In(Mode::kDefault, "WebFetch(domain:example.com)");
  const auto fetch = [](const std::string& url) {
    return Question{
        .tool = "WebFetch", .effects = false, .reads = {}, .writes = {}, .command = "", .url = url};
  };
  EXPECT_EQ(Decide(rules, fetch("https://example.com/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, fetch("https://docs.example.com:8080/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, fetch("https://badexample.com/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, fetch("https://example.com@evil.org/")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, DenyBeatsAllow) {
  const Rules rules = In(Mode::kDefault, "Bash", "Bash(rm *)");
  EXPECT_EQ(Decide(rules, Command("ls -l")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("rm -rf x")).verdict, Verdict::kDeny);
}

TEST(PolicyTest, RulesAreReadFromAList) {
  const auto rules = ParseRules("Read, Bash(git log *) Edit");
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 3U);
  EXPECT_EQ((*rules)[1].specifier, "git log *");
  EXPECT_FALSE(ParseRules("Bash(git"));
  EXPECT_FALSE(ParseRules("(x)"));
}

TEST(PolicyTest, WhatTheRunWithholdsIsDeniedInEveryMode) {
  for (const Mode mode :
       {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto, Mode::kDontAsk, Mode::kBypass}) {
    Rules rules = In(mode, "Bash,Write");
    rules.run = {.may_write = false, .may_run = true, .reason = "the tests fail"};
    const Decision write = Decide(rules, Write("/p/a"));
    EXPECT_EQ(write.verdict, Verdict::kDeny);
    EXPECT_EQ(write.rule, "run:write");
    EXPECT_EQ(write.reason, "the tests fail");
    EXPECT_EQ(Decide(rules, Read("/p/a")).verdict, Verdict::kAllow);
    EXPECT_EQ(Decide(rules, Command("make")).verdict, Verdict::kAllow);
    rules.run = {.may_write = true, .may_run = false, .reason = "no"};
    EXPECT_EQ(Decide(rules, Command("make")).rule, "run:run");
    // An effect that nothing is known of needs both.
    Question other;
    other.tool = "Deploy";
    other.effects = true;
    EXPECT_EQ(Decide(rules, other).rule, "run:run");
  }
}

TEST(PolicyTest, AWayOutOfTheSandboxIsAlwaysAsked) {
  Question question = Command("make");
  question.unsandboxed = true;
  for (const Mode mode : {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto}) {
    EXPECT_EQ(Decide(In(mode, "Bash"), question).rule, "unsandboxed");
    EXPECT_EQ(Decide(In(mode, "Bash(make)"), question).verdict, Verdict::kAsk);
  }
  EXPECT_EQ(Decide(In(Mode::kDontAsk, "Bash"), question).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kDefault, "Bash", "Bash"), question).verdict, Verdict::kDeny);
}

TEST(PolicyTest, AHardRuleComesFirstAndSaysSo) {
  Rules rules = In(Mode::kBypass, "Bash");
  rules.hard = *ParseRules("Bash(git push*)");
  const Decision decision = Decide(rules, Command("git push --force"));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_TRUE(decision.hard);
  EXPECT_EQ(decision.rule, "hard:Bash(git push*)");
  EXPECT_FALSE(Decide(In(Mode::kBypass, "", "Bash"), Command("x")).hard);
}

}  // namespace
}  // namespace stet::policy
