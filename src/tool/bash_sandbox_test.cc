#include <algorithm>

#include <gtest/gtest.h>

#include "json/view.h"
#include "sandbox/apart_dir_fixture.h"
#include "sandbox/support.h"
#include "tool/editor_fixture.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

/// Commands in the best sandbox that this machine has.
class BashSandboxTest : public ToolTest {
 protected:
  void SetUp() override {
    sandbox::Profile profile;
    workspace_.project = workspace_.cwd = apart_.Sub("project");
    ASSERT_TRUE(MakeDirs(workspace_.project));
    profile.writable = {workspace_.project};
    profile.network = sandbox::network::kOff;
    profile.dropped_variables = {"STET_TEST_*"};
    const auto mechanism = sandbox::Choose(profile, sandbox::Need::kWhole);
    if (!mechanism) GTEST_SKIP() << mechanism.error().message;
    sandbox_ = sandbox::Chosen{profile, *mechanism};
  }
  std::string Bash(const std::string& command, bool is_error = false) {
    return TextOfRun("Bash", Strings({{"command", command}}), is_error);
  }

  sandbox::ApartDir apart_;
};

TEST_F(BashSandboxTest, CommandsWorkAsTheyDoWithout) {
  EXPECT_EQ(Bash("echo one; echo two >&2"), "one\ntwo\n");
  EXPECT_EQ(Bash("exit 3", true), "Exit code 3\n");
  ASSERT_TRUE(MakeDirs(apart_.Sub("project/d")));
  EXPECT_EQ(Bash("cd d"), "(The working directory is now " + apart_.Sub("project/d") + ".)\n");
  EXPECT_EQ(TextOfRun("Bash", Strings({{"command", "cat"}, {"stdin", "in"}})), "in\n");
  const Outcome outcome = Run("Bash", R"({"command":"echo x >made"})");
  ASSERT_EQ(outcome.writes.size(), 1U);
  EXPECT_EQ(outcome.writes[0].path, apart_.Sub("project/d/made"));
  ASSERT_EQ(::setenv("STET_TEST_KEY", "sesame", 1), 0);
  EXPECT_EQ(Bash("echo [$STET_TEST_KEY]"), "[]\n");
  ::unsetenv("STET_TEST_KEY");
}

TEST_F(BashSandboxTest, WhatIsKeptInNeverRunsInTheEditorsTerminal) {
  const auto fake = std::make_shared<FakeEditor>();
  fake->can_run = true;
  editor_ = fake;
  EXPECT_EQ(Bash("echo here"), "here\n");
  EXPECT_TRUE(fake->commands.empty());
  sandbox_.reset();
  Bash("echo there");
  EXPECT_EQ(fake->commands.size(), 1U);
}

TEST_F(BashSandboxTest, WhatWasBlockedIsToldWithAWayOut) {
  const std::string text = Bash("touch " + apart_.Sub("outside"), true);
  EXPECT_NE(
      text.find("(The sandbox: " + apart_.Sub("outside") + " is outside of what commands may"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("dangerouslyDisableSandbox"), std::string::npos);
  EXPECT_FALSE(Exists(apart_.Sub("outside")));
}

TEST_F(BashSandboxTest, ACommandInTheBackgroundIsKeptInToo) {
  const Outcome started = Run(
      "Bash", Raw{R"({"background":true,"command":"read x; echo $x; touch ../outside; exit 1"})"});
  EXPECT_FALSE(started.is_error);
  const std::string text = TextOfRun(
      "BashTask", Raw{R"({"action":"write","task_id":"shell-1","stdin":"hi\n","wait_time":60})"},
      true);
  EXPECT_TRUE(text.starts_with("hi\n")) << text;
  EXPECT_NE(text.find("(The sandbox: "), std::string::npos) << text;
}

TEST_F(BashSandboxTest, ATimeoutAndACancelEndIt) {
  const Outcome outcome = Run("Bash", R"({"command":"echo start; sleep 100","timeout":1})");
  EXPECT_EQ(TextOf(outcome), "start\nStopped after 1 s, which was its timeout.\n");
}

TEST_F(BashSandboxTest, TheIntentSaysThatACallWantsOut) {
  const auto intent = registry_.Find("Bash")->Intend(
      Raw{R"({"command":"make","dangerouslyDisableSandbox":true})"}, workspace_);
  ASSERT_TRUE(intent);
  EXPECT_TRUE(intent->unsandboxed);
  EXPECT_FALSE(
      registry_.Find("Bash")->Intend(Raw{R"({"command":"make"})"}, workspace_)->unsandboxed);
}

TEST_F(BashSandboxTest, WhatGitWouldObeyIsSetAsideWhenATaskInTheBackgroundHasEnded) {
  workspace_.guarded_names = {".git"};
  const std::string git = apart_.Sub("project/.git");
  ASSERT_TRUE(MakeDirs(git));
  ASSERT_TRUE(ReplaceFile(git + "/HEAD", "ref: refs/heads/main\n", Durable::kNo));
  const Outcome started =
      Run("Bash", Raw{R"({"background":true,"command":"read x; echo ../evil >.git/commondir"})"});
  EXPECT_FALSE(started.is_error);
  const std::string text = TextOfRun(
      "BashTask", Raw{R"({"action":"write","task_id":"shell-1","stdin":"go\n","wait_time":60})"});
  EXPECT_NE(text.find("/.git/commondir, which git obeys: it is"), std::string::npos) << text;
  EXPECT_FALSE(Exists(git + "/commondir"));
  EXPECT_TRUE(Exists(git + "/commondir.set-aside"));
}

TEST_F(BashSandboxTest, WhereOnlyFilesAreHiddenGitIsLeftAlone) {
  ASSERT_TRUE(MakeDirs(apart_.Sub("project/.git")));
  ASSERT_TRUE(ReplaceFile(apart_.Sub("project/.git/HEAD"), "ref: refs/heads/main\n", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(apart_.Sub("project/secret"), "sesame", Durable::kNo));
  sandbox::Profile profile;
  profile.only_hides = true;
  profile.hidden = {apart_.Sub("project/secret")};
  const auto mechanism = sandbox::Choose(profile, sandbox::Need::kWhole);
  if (!mechanism) GTEST_SKIP() << mechanism.error().message;
  sandbox_ = sandbox::Chosen{profile, *mechanism};
  workspace_.guarded_names = {".git"};
  Bash("echo x >.git/commondir; echo y >" + apart_.Sub("outside"));
  EXPECT_TRUE(Exists(apart_.Sub("project/.git/commondir")));
  EXPECT_TRUE(Exists(apart_.Sub("outside")));
  const std::string text = Bash("cat secret", true);
  EXPECT_EQ(text.find("sesame"), std::string::npos) << text;
  EXPECT_NE(text.find("/secret is hidden from commands"), std::string::npos) << text;
  EXPECT_EQ(text.find("dangerouslyDisableSandbox"), std::string::npos) << text;
}

}  // namespace
}  // namespace stet::tool
