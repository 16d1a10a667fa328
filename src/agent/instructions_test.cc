#include "agent/instructions.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stet::agent
