#include "agent/disk_reach.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/question.h"
#include "base/fs.h"
#include "base/temp_dir.h"
#include "policy/policy.h"

namespace stet::agent {
namespace {

using policy::Mode;
using policy::Verdict;

class DiskReachTest : public testing::Test {
 protected:
  DiskReachTest() {
    for (const char* file : {"project/README.md", "project/src/a.txt", "project/.env",
                             "project/private/p.txt", "outside/o.txt"}) {
      EXPECT_TRUE(MakeDirs(ParentDir(temp_.Sub(file))));
      EXPECT_TRUE(ReplaceFile(temp_.Sub(file), "x\n", Durable::kNo));
    }
    workspace_.project = workspace_.cwd = temp_.Sub("project");
    rules_.project = workspace_.project;
    rules_.home = temp_.Sub("home");
  }

  void Link(const std::string& name, const std::string& to) {
    EXPECT_EQ(::symlink(temp_.Sub(to).c_str(), temp_.Sub("project/" + name).c_str()), 0);
  }

  policy::Decision Decide(const std::string& command, bool hides_excluded = true) {
    tool::Intent intent;
    intent.effects = true;
    intent.command = command;
    return policy::Decide(rules_, QuestionOf("Bash", intent, workspace_, rules_),
                          {.hides_excluded = hides_excluded});
  }

  TempDir temp_;
  tool::Workspace workspace_;
  policy::Rules rules_;
};

TEST_F(DiskReachTest, APatternIsTheFilesThatItMatches) {
  Link("link1", "outside/o.txt");
  Link("src/inside", "project/README.md");
  for (const char* line : {"cat *.md", "cat src/*", "head -1 src/in*", "cat nothing*.txt",
                           "for f in src/*; do cat \"$f\"; done", "wc -l */*.txt"})
    EXPECT_EQ(Decide(line).verdict, Verdict::kAllow) << line << ": " << Decide(line).reason;
  for (const char* line : {"cat link?", "cat l*", "head -1 link[0-9]", "cat [l]ink1", "cat *",
                           "for f in link*; do cat \"$f\"; done"})
    EXPECT_EQ(Decide(line).verdict, Verdict::kAsk) << line;
  for (const char* line : {"cat .e*", "cat .en?", "cat .*"})
    EXPECT_EQ(Decide(line).rule, "secrets") << line;
}

TEST_F(DiskReachTest, APatternMayBecomeAnOptionWhereAFileIsCalledOne) {
  EXPECT_EQ(Decide("sort *").verdict, Verdict::kAllow);
  EXPECT_EQ(Decide("cd src && sort *").verdict, Verdict::kAsk) << "that folder is not looked at";
  ASSERT_TRUE(ReplaceFile(temp_.Sub("project/-omade"), "", Durable::kNo));
  EXPECT_EQ(Decide("sort *").verdict, Verdict::kAsk);
}

TEST_F(DiskReachTest, LinksThatAreFollowedOnTheWayAreReadToo) {
  EXPECT_EQ(Decide("grep -R x .").verdict, Verdict::kAllow);
  Link("src/out", "outside/o.txt");
  for (const char* line :
       {"grep -R x .", "grep -R x src", "grep --dereference-recursive x", "rg -L x",
        "rg --follow x src", "diff --recursive src old", "find src -name out -exec cat {} +",
        "find . -name 'o*' -exec head -1 {} \\;"})
    EXPECT_EQ(Decide(line).verdict, Verdict::kAsk) << line;
  for (const char* line : {"grep -r x .", "rg x", "find . -name out", "ls -R"})
    EXPECT_EQ(Decide(line).verdict, Verdict::kAllow) << line << ": " << Decide(line).reason;
}

TEST_F(DiskReachTest, WhatIsDeniedOrExcludedIsFoundBehindPatternsAndLinks) {
  Link("src/also", "project/private/p.txt");
  rules_.deny = *policy::ParseRules("Read(./private)");
  for (const char* line : {"cat src/al*", "cat p*/p.txt", "cat */*.txt", "grep -R x src"})
    EXPECT_EQ(Decide(line).verdict, Verdict::kDeny) << line;
  EXPECT_EQ(Decide("cat *.md").verdict, Verdict::kAllow);
  rules_.deny.clear();
  rules_.exclude = std::make_shared<const IgnoreFile>("private/\n");
  for (const char* line : {"cat src/al*", "cat p*/p.txt", "grep -R x src"})
    EXPECT_EQ(Decide(line).rule, "exclude") << line;
  EXPECT_EQ(Decide("git show HEAD").verdict, Verdict::kAsk) << "what is in it nothing hides";
  EXPECT_EQ(Decide("git status").verdict, Verdict::kAllow);
}

TEST_F(DiskReachTest, BeyondWhatIsLookedAtThePatternStays) {
  for (std::size_t i = 0; i <= DiskReach::kMaxMatches; ++i)
    ASSERT_TRUE(ReplaceFile(temp_.Sub(fmt::format("project/src/m{}.c", i)), "", Durable::kNo));
  std::vector<policy::ShellPath> reads = {
      {temp_.Sub("project/src"), policy::ShellPath::Reach::kMatches, "*.c"}};
  DiskReach(workspace_).Resolve(reads, false);
  ASSERT_EQ(reads.size(), DiskReach::kMaxMatches + 1);
  EXPECT_EQ(reads.back().reach, policy::ShellPath::Reach::kMatches);
  EXPECT_EQ(Decide("cat src/*.c").verdict, Verdict::kAllow);
}

TEST_F(DiskReachTest, OutputToAFileOfSeveralNamesIsAsked) {
  ASSERT_EQ(::link(temp_.Sub("outside/o.txt").c_str(), temp_.Sub("project/same").c_str()), 0);
  rules_.mode = Mode::kAcceptEdits;
  EXPECT_EQ(Decide("echo x >> src/a.txt").verdict, Verdict::kAllow);
  EXPECT_EQ(Decide("echo x >> same").rule, "caution");
}

TEST_F(DiskReachTest, WhatGitObeysIsAskedAboutWhereverARepositoryNamesIt) {
  rules_.mode = Mode::kAcceptEdits;
  ASSERT_TRUE(MakeDirs(temp_.Sub("project/repo")));
  ASSERT_EQ(::symlink("repo", temp_.Sub("project/.git").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(temp_.Sub("project/repo/config"),
                          "[core]\nhooksPath = tools/hooks\n[include]\npath = ../more\n",
                          Durable::kNo));
  ASSERT_TRUE(ReplaceFile(temp_.Sub("project/more"), "", Durable::kNo));
  const auto write = [&](const std::string& name) {
    tool::Intent intent;
    intent.effects = true;
    intent.writes = {temp_.Sub("project/" + name)};
    return policy::Decide(rules_, QuestionOf("Write", intent, workspace_, rules_));
  };
  for (const char* name : {"tools/hooks/pre-commit", "more", "repo/hooks/x", "repo/config"})
    EXPECT_EQ(write(name).rule, "guarded") << name;
  for (const char* name : {"tools/made", "repo/index", "src/a.txt"})
    EXPECT_EQ(write(name).verdict, Verdict::kAllow) << name;
  EXPECT_EQ(Decide("echo x >> more").rule, "guarded");
  EXPECT_EQ(Decide("touch tools/hooks/x").rule, "guarded");
}

TEST_F(DiskReachTest, ABranchThatFollowsOneOfAnotherRepositoryIsAskedBeforeItIsMade) {
  rules_.mode = Mode::kAuto;
  for (const char* folder :
       {"project/.git/refs/heads", "project/.git/refs/remotes/origin", "project/.git/objects"})
    ASSERT_TRUE(MakeDirs(temp_.Sub(folder)));
  for (const char* file : {"HEAD", "config", "refs/heads/main", "refs/remotes/origin/topic"})
    ASSERT_TRUE(ReplaceFile(temp_.Sub(std::string("project/.git/") + file), "", Durable::kNo));
  const policy::Circumstances boxed{.run = {}, .sandboxed = true, .hides_excluded = true};
  const auto decide = [&](const std::string& line) {
    tool::Intent intent;
    intent.effects = true;
    intent.command = line;
    return policy::Decide(rules_, QuestionOf("Bash", intent, workspace_, rules_), boxed).verdict;
  };
  for (const char* line : {"git checkout -b x origin/topic", "git switch -c x origin/topic",
                           "git switch topic", "git branch x origin/topic"})
    EXPECT_EQ(decide(line), Verdict::kAsk) << line;
  for (const char* line : {"git checkout -b x", "git checkout -b x main", "git switch main",
                           "git switch -c x", "git branch x main"})
    EXPECT_EQ(decide(line), Verdict::kAllow) << line;
}

}  // namespace
}  // namespace stet::agent
