#include "policy/shell/rules.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

ShellAnalysis AnalyseRuled(std::string_view line) { return AnalyseShell(line, {"/p", "/home/u"}); }
bool Covers(std::string_view rule, std::string_view line) {
  return ShellCovers(rule, AnalyseRuled(line));
}
bool Touches(std::string_view rule, std::string_view line) {
  return ShellTouches(rule, AnalyseRuled(line));
}

TEST(ShellRulesTest, ARuleCoversItsCommandHoweverItIsQuoted) {
  for (const char* line :
       {"git status", "git 'status'", "/usr/bin/git status", "git  status", "git status 2>&1",
        "git status > /dev/null", "timeout 5 git status", "bash -c 'git status'", "CI=1 git status",
        "cd . && git status", "git status && echo done", "git status | git status"})
    EXPECT_TRUE(Covers("git status", line)) << line;
}

TEST(ShellRulesTest, ARuleCoversNothingElseInTheLine) {
  for (const char* line : {"git status -s",
                           "git status; rm -rf x",
                           "git status\nrm x",
                           "git status && x",
                           "git status | x",
                           "git status $(rm x)",
                           "git status `rm x`",
                           "git status > x",
                           "git status >> x",
                           "git -c core.pager=x status",
                           "GIT_PAGER=x git status",
                           "LD_PRELOAD=x git status",
                           "sudo git status",
                           "./git status",
                           "cd /tmp/x && git status",
                           "git -C x status",
                           "bash -c 'git status; rm x'",
                           "$x status",
                           "git status <(rm x)",
                           "FOO=1 git status",
                           ""})
    EXPECT_FALSE(Covers("git status", line)) << line;
}

TEST(ShellRulesTest, AStarStandsForAnything) {
  EXPECT_TRUE(Covers("git *", "git log -p"));
  EXPECT_TRUE(Covers("git *", "git"));
  EXPECT_FALSE(Covers("git *", "gitk"));
  EXPECT_FALSE(Covers("git *", "git -c core.pager=x log")) << "it runs another program";
  EXPECT_FALSE(Covers("git *", "git log $x")) << "it may be an option";
  EXPECT_TRUE(Covers("npm run test:*", "npm run test"));
  EXPECT_TRUE(Covers("npm run test:*", "npm run test:unit"));
  EXPECT_TRUE(Covers("npm run test:*", "npm run test --watch"));
  EXPECT_FALSE(Covers("npm run test:*", "npm run testing"));
  EXPECT_TRUE(Covers("* --version", "node --version"));
  EXPECT_TRUE(Covers("npx *", "npx jest a"));
  EXPECT_FALSE(Covers("timeout *", "timeout 5 rm x"));
  EXPECT_TRUE(Covers("find *", "find . -name x"));
  EXPECT_FALSE(Covers("find *", "find . -exec rm {} +")) << "rm is named by no rule";
  EXPECT_FALSE(Covers("find *", "find . -delete"));
  EXPECT_FALSE(Covers("sort *", "sort -o a b"));
}

TEST(ShellRulesTest, ItsOwnTextIsAlwaysCovered) {
  for (const char* line : {"rm -rf x; ls", "ls 'unclosed", "git -c a=b x"})
    EXPECT_TRUE(Covers(line, line)) << line;
}

TEST(ShellRulesTest, ADenyFindsItsCommandAnywhere) {
  for (const char* line :
       {"rm -rf x", "ls; rm x", "sudo rm x", "env A=b timeout 3 rm x", "bash -c 'rm x'", "$(rm x)",
        "/bin/rm x", "./rm x", "r\"m\" x", "\\rm x", "xargs rm", "find . -exec rm {} +", "$x y",
        "rm $x", "f() { rm x; }", "ls 'unclosed", "eval 'rm x'", "cat <<E\n$(rm x)\nE"})
    EXPECT_TRUE(Touches("rm *", line)) << line;
  for (const char* line :
       {"ls", "echo rm x", "git rm x", "rmdir x", "git log $x", "ls $x", "echo 'rm x'"})
    EXPECT_FALSE(Touches("rm *", line)) << line;
  EXPECT_TRUE(Touches("git push*", "git $x"));
  EXPECT_TRUE(Touches("rm *", "git $x")) << "it may set an alias";
  EXPECT_TRUE(Touches("sudo *", "sudo ls"));
  EXPECT_FALSE(Touches("git push*", "git pull $x"));
}

}  // namespace
}  // namespace stet::policy
