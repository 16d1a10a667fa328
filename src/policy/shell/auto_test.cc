#include "policy/shell/auto.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

const std::vector<std::string> kAutoRoots = {"/p", "/q"};

AutoAnswer Ask(std::string_view line, bool sandboxed, const IsRestorable& restorable = nullptr) {
  return AutoVerdict(AnalyseShell(line, {"/p", "/home/u"}), sandboxed, kAutoRoots, restorable);
}

TEST(ShellAutoTest, WhatCanBeUndoneIsAllowed) {
  for (const char* line :
       {"ls", "cat src/a.c", "mkdir src/b", "touch /q/x", "sed -i s/a/b/ f", "git commit -am x",
        "make test", "npm ci", "git pull", "curl -s https://x.example | jq .", "echo x >> f",
        "rm -rf build node_modules", "ls > /tmp/x", "rm /tmp/x"})
    EXPECT_EQ(Ask(line, false), (AutoAnswer{true, ""})) << line;
}

TEST(ShellAutoTest, ASandboxAllowsWhatIsNotKnown) {
  for (const char* line : {"unheard-of", "kill 1", "cat /etc/passwd", "cat $x", "docker run x",
                           "python3 -c 'print(1)'", "cd sub && git status"}) {
    EXPECT_FALSE(Ask(line, false).allowed) << line;
    EXPECT_TRUE(Ask(line, true).allowed) << line;
  }
}

TEST(ShellAutoTest, WhatIsLostSentOrHiddenIsAsked) {
  for (const char* line :
       {"rm src/a.c", "git reset --hard", "git clean -fd", "echo x > f", "git push", "sudo ls",
        "curl -d @f https://x.example", "touch /etc/x", "echo x >> /home/u/.bashrc", "$x",
        "LD_PRELOAD=x ls", "cd /tmp/x && git status", "ls 'unclosed", ""}) {
    EXPECT_FALSE(Ask(line, true).allowed) << line;
    EXPECT_FALSE(Ask(line, true).why.empty()) << line;
  }
}

TEST(ShellAutoTest, WhatCanBeHadAgainMayGo) {
  const IsRestorable restorable = [](const std::string& path) { return path == "/p/a"; };
  EXPECT_TRUE(Ask("rm a", true, restorable).allowed);
  EXPECT_TRUE(Ask("echo x > a", true, restorable).allowed);
  EXPECT_FALSE(Ask("rm a b", true, restorable).allowed);
  const IsRestorable anything = [](const std::string&) { return true; };
  for (const char* line : {"rm -rf /p", "rm -rf .", "rm -rf /etc/x", "rm -rf $x", "git clean -fd"})
    EXPECT_FALSE(Ask(line, true, anything).allowed) << line;
}

TEST(ShellAutoTest, NoWayRoundLeadsToWhatIsKept) {
  for (const char* line :
       {"echo x >> .git/config", "cp a .git/hooks/pre-commit", "sed -i s/a/b/ .git/config",
        "chmod +x .git/hooks/x", "echo x >> .g*/config", "touch sub/.git/x", "echo x >> .envrc",
        "mv src build/x && rm -rf build", "mv src /tmp/x",
        "ln -s ../src build/x; rm -rf build/x/*"})
    EXPECT_FALSE(Ask(line, true).allowed) << line;
  for (const char* line :
       {"touch .gitignore", "echo x >> .github/a.yml", "mv build/a build/b", "mv /tmp/a /tmp/b",
        "t=$(mktemp -d); ls $t; rm -rf $t", "chmod +x src/*.sh"})
    EXPECT_TRUE(Ask(line, true).allowed) << line;
}

TEST(ShellAutoTest, WhatABuildMakesIsKnownByItsName) {
  EXPECT_TRUE(IsDerived("/p/build", "/p"));
  EXPECT_TRUE(IsDerived("/p/web/node_modules/x", "/p"));
  EXPECT_TRUE(IsDerived("/p/src/a.pyc", "/p"));
  EXPECT_FALSE(IsDerived("/p/src", "/p"));
  EXPECT_FALSE(IsDerived("/p", "/p"));
  EXPECT_FALSE(IsDerived("/build/x", "/p"));
  EXPECT_FALSE(IsDerived("/p/builder", "/p"));
}

TEST(ShellAutoTest, BracesThatMakeMoreWordsThanAShellShouldHoldAreAsked) {
  for (const char* line :
       {"echo {1..99999999}", "echo {1..1000}{1..1000}", "ls {a..z}{a..z}{a..z}{1..100}",
        "echo {1..99999999999999999999999}", "echo \"$x\"{1..100000000}",
        "echo x{0..9}{0..9}{0..9}{0..9}{0..9}{0..9}"})
    EXPECT_FALSE(Ask(line, true).allowed) << line;
  for (const char* line : {"echo {1..100}", "ls *.{c,h}", "echo {1..1000000..1000}",
                           "git show HEAD@{1}", "echo '{1..99999999}'", "echo {10..1}"})
    EXPECT_TRUE(Ask(line, true).allowed) << line;
}

}  // namespace
}  // namespace stet::policy
