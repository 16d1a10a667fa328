#include "agent/instructions.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::agent {
namespace {

class InstructionsTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(
        MakeDirs((dir_.path() + "/" + path).substr(0, (dir_.path() + "/" + path).rfind('/'))));
    ASSERT_TRUE(ReplaceFile(dir_.path() + "/" + path, text, Durable::kNo));
  }
  [[nodiscard]] std::string AgentsOf(const std::string& cwd, std::int64_t window = 200'000) const {
    InstructionSources sources;
    sources.cwd = dir_.path() + "/" + cwd;
    sources.home = dir_.path() + "/me";
    sources.user_instructions = dir_.path() + "/me/AGENTS.md";
    sources.context_window = window;
    return TakeSnapshot(sources, clock_).snapshot.sections[1].rendered_block;
  }

  TempDir dir_;
  FakeClock clock_;
};

TEST_F(InstructionsTest, ThereAreSixSectionsInAFixedOrderAndTheSameBytesEveryTime) {
  InstructionSources sources;
  sources.cwd = dir_.path();
  const protocol::InstructionSnapshot snapshot = TakeSnapshot(sources, clock_);
  std::string kinds;
  for (const protocol::Section& section : snapshot.snapshot.sections) kinds += section.kind + " ";
  EXPECT_EQ(kinds, "baseline agents memory workspace environment time ");
  EXPECT_EQ(RenderSnapshot(snapshot), RenderSnapshot(TakeSnapshot(sources, clock_)));
  EXPECT_NE(RenderSnapshot(snapshot)[0].find("<system-reminder>"), std::string::npos);
}

TEST_F(InstructionsTest, InARepositoryEveryFileUpToItsRootCountsAndTheNearerComesLater) {
  Write("repo/.git/HEAD", "");
  Write("AGENTS.md", "outside");
  Write("repo/AGENTS.md", "far");
  Write("repo/a/AGENTS.md", "near");
  Write("me/AGENTS.md", "mine");
  const std::string text = AgentsOf("repo/a");
  EXPECT_EQ(text.find("outside"), std::string::npos);
  ASSERT_NE(text.find("near"), std::string::npos);
  EXPECT_LT(text.find("mine"), text.find("far"));
  EXPECT_LT(text.find("far"), text.find("near"));
}

TEST_F(InstructionsTest, OtherNamesCountOnlyWhenTheyAreConfiguredAndThereIsNoAgentsFile) {
  Write("repo/.git/HEAD", "");
  Write("repo/AGENTS.md", "ours");
  Write("repo/CLAUDE.md", "beside ours");
  Write("repo/a/CLAUDE.md", "theirs");
  EXPECT_EQ(AgentsOf("repo/a").find("theirs"), std::string::npos) << "off by default";
  InstructionSources sources;
  sources.cwd = dir_.path() + "/repo/a";
  sources.fallback = {"CLAUDE.md"};
  const std::string text = TakeSnapshot(sources, clock_).snapshot.sections[1].rendered_block;
  EXPECT_NE(text.find("theirs"), std::string::npos);
  EXPECT_NE(text.find("ours"), std::string::npos);
  EXPECT_EQ(text.find("beside ours"), std::string::npos);
}

TEST_F(InstructionsTest, OutsideARepositoryTheSearchEndsBeforeHome) {
  Write("me/x/AGENTS.md", "upper");
  Write("me/x/y/AGENTS.md", "lower");
  Write("me/AGENTS.md", "mine");
  const std::string text = AgentsOf("me/x/y");
  EXPECT_LT(text.find("upper"), text.find("lower"));
  EXPECT_EQ(text.find("mine"), text.rfind("mine")) << "home's own file is the user's, once";
  Write("elsewhere/AGENTS.md", "parent");
  Write("elsewhere/b/AGENTS.md", "alone");
  EXPECT_EQ(AgentsOf("elsewhere/b").find("parent"), std::string::npos);
}

TEST_F(InstructionsTest, WhatDoesNotFitIsCutFromTheWeakestOnAndSaid) {
  Write("repo/.git/HEAD", "");
  Write("repo/AGENTS.md", std::string(10'000, 'f'));
  Write("repo/a/AGENTS.md", "near");
  const std::string text = AgentsOf("repo/a", 20'000);
  EXPECT_EQ(text.find("fff"), std::string::npos);
  EXPECT_NE(text.find("near"), std::string::npos);
  EXPECT_NE(text.find("Left out"), std::string::npos);
}

TEST_F(InstructionsTest, ALinkOutOfTheProjectIsNotReadAndSaidToTheUser) {
  Write("repo/.git/HEAD", "");
  Write("keys/id_rsa", "PRIVATE KEY");
  Write("repo/docs/real.md", "ours by a link");
  ASSERT_EQ(
      ::symlink((dir_.path() + "/keys/id_rsa").c_str(), (dir_.path() + "/repo/AGENTS.md").c_str()),
      0);
  Write("repo/a/b/other.md", "");
  ASSERT_EQ(::symlink("../docs/real.md", (dir_.path() + "/repo/a/AGENTS.md").c_str()), 0);
  ASSERT_EQ(::symlink("../../../keys/id_rsa", (dir_.path() + "/repo/a/b/AGENTS.md").c_str()), 0);
  const std::string text = AgentsOf("repo/a/b");
  EXPECT_EQ(text.find("PRIVATE"), std::string::npos) << text;
  EXPECT_NE(text.find("ours by a link"), std::string::npos);
  InstructionSources sources;
  sources.cwd = dir_.path() + "/repo/a/b";
  const std::vector<std::string> unused = UnusedInstructions(sources);
  ASSERT_EQ(unused.size(), 2U);
  EXPECT_NE(unused[0].find("leads out of"), std::string::npos) << unused[0];
}

TEST_F(InstructionsTest, WhatIsKeptFromSightTooLargeOrNoTextIsNotRead) {
  Write("repo/.git/HEAD", "");
  Write("repo/.env", "KEY=secret");
  ASSERT_EQ(::symlink(".env", (dir_.path() + "/repo/AGENTS.md").c_str()), 0);
  Write("repo/a/AGENTS.md", std::string("ELF\0\1", 5));
  Write("repo/a/b/AGENTS.md", std::string((1 << 20) + 1, 'x'));
  ASSERT_TRUE(MakeDirs(dir_.path() + "/repo/a/b/c"));
  ASSERT_EQ(::mkfifo((dir_.path() + "/repo/a/b/c/AGENTS.md").c_str(), 0600), 0);
  InstructionSources sources;
  sources.cwd = dir_.path() + "/repo/a/b/c";
  sources.may_read = [](const std::string& path) { return !path.ends_with(".env"); };
  const std::string text = TakeSnapshot(sources, clock_).snapshot.sections[1].rendered_block;
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_EQ(text.find("ELF"), std::string::npos);
  EXPECT_EQ(text.find("xxx"), std::string::npos);
  EXPECT_EQ(UnusedInstructions(sources).size(), 4U);
}

}  // namespace
}  // namespace stet::agent
