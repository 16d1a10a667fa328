#include "policy/policy.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

Rules In(Mode mode, std::string_view allow = "", std::string_view deny = "") {
  return {.mode = mode, .project = "/p", .allow = *ParseRules(allow), .deny = *ParseRules(deny)};
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

}  // namespace
}  // namespace stet::policy
