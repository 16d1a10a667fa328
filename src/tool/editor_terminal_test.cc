#include "tool/editor_terminal.h"

#include "tool/editor_fixture.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class TerminalTest : public ToolTest {
 protected:
  TerminalTest() {
    editor_ = fake_;
    fake_->can_run = true;
  }

  std::string RunCommand(const std::string& command, bool is_error = false) {
    return TextOfRun("Bash", Strings({{"command", command}}), is_error);
  }
  std::size_t Asked(std::string_view what) const {
    return static_cast<std::size_t>(std::ranges::count(fake_->asked, what));
  }

  std::shared_ptr<FakeEditor> fake_ = std::make_shared<FakeEditor>();
};

TEST_F(TerminalTest, ACommandRunsInTheEditorsTerminalAndGivesItsOutput) {
  fake_->output.text = "hello\r\nworld";
  EXPECT_EQ(RunCommand("make it"), "hello\nworld\n");
  ASSERT_EQ(fake_->commands.size(), 1U);
  const TerminalCommand& ran = fake_->commands[0];
  EXPECT_EQ(ran.program, "bash");
  EXPECT_EQ(ran.arguments, (std::vector<std::string>{"-c", "make it"}));
  EXPECT_EQ(ran.cwd, Path(""));
  EXPECT_GT(ran.max_bytes, ShellOutput::kMaxShownBytes);
  EXPECT_EQ(std::ranges::count(ran.variables, "GIT_TERMINAL_PROMPT=0"), 1);
  EXPECT_EQ(terminals_, std::vector<std::string>{"term_1"});
  EXPECT_EQ(fake_->asked.back(), "release term_1");
  EXPECT_EQ(fake_->waits.front(), kMaxTerminalTime);
}

TEST_F(TerminalTest, WhatKeepsGitFromRunningHooksHoldsThereToo) {
  ::setenv("GIT_CONFIG_COUNT", "0", 1);
  ::setenv("STET_TEST_OTHER", "the editor has its own", 1);
  RunCommand("git status");
  ::unsetenv("GIT_CONFIG_COUNT");
  ::unsetenv("STET_TEST_OTHER");
  const std::vector<std::string>& variables = fake_->commands.at(0).variables;
  EXPECT_EQ(std::ranges::count(variables, "GIT_CONFIG_COUNT=0"), 1);
  EXPECT_FALSE(std::ranges::any_of(
      variables, [](const std::string& one) { return one.starts_with("STET_TEST_OTHER"); }));
}

TEST_F(TerminalTest, ExitCodesAndSignalsComeBackAsTheyDoFromOurOwnShell) {
  fake_->end = {.exit_code = 3, .signal = ""};
  EXPECT_EQ(RunCommand("false", true), "Exit code 3\n");
  fake_->end = {.exit_code = {}, .signal = "SIGKILL"};
  EXPECT_EQ(RunCommand("false", true), "Killed by signal 9.\n");
  fake_->end = {.exit_code = {}, .signal = "a whim"};
  EXPECT_EQ(RunCommand("false", true), "Killed by signal a whim.\n");
  fake_->end = {};
  fake_->end.exit_code.reset();
  EXPECT_EQ(RunCommand("false", true), "How it ended is not known.\n");
}

TEST_F(TerminalTest, WhatIsCancelledOrTakesTooLongIsKilledAndReleased) {
  fake_->output.text = "half";
  fake_->wait_error = Error(Code::kTimeout, "not yet");
  EXPECT_NE(RunCommand("sleep", true).find("half\nStopped after 600 s"), std::string::npos);
  EXPECT_EQ(Asked("kill term_1"), 1U);
  EXPECT_EQ(Asked("release term_1"), 1U);
  fake_->wait_error = Error(Code::kTimeout, "not yet");
  EXPECT_EQ(TextOfRun("Bash", Raw{R"({"command":"sleep","timeout":7})"}, true),
            "half\nStopped after 7 s, which was its timeout.\n");
  fake_->on_wait = [&] { cancel_.Cancel(); };
  EXPECT_EQ(RunCommand("sleep", true), "half\nStopped: the call was cancelled.\n");
  EXPECT_EQ(Asked("kill term_1"), 3U);
  EXPECT_EQ(Asked("release term_1"), 3U);
}

TEST_F(TerminalTest, AnEditorThatOpensNoneOrGoesAwayIsAnError) {
  fake_->wait_error = Error(Code::kUnavailable, "the client has gone");
  EXPECT_NE(RunCommand("make", true).find("the client has gone. It may still run."),
            std::string::npos);
  fake_->open_error = Error(Code::kIo, "no room");
  EXPECT_NE(RunCommand("make", true).find("was not run: the user's editor opened no terminal"),
            std::string::npos);
}

TEST_F(TerminalTest, LongOutputIsShownInPartAndKept) {
  fake_->output.text = std::string(100'000, 'x');
  fake_->output.truncated = true;
  const std::string said = RunCommand("cat");
  EXPECT_LT(said.size(), 2 * ShellOutput::kMaxShownBytes);
  EXPECT_NE(said.find("kept only the end"), std::string::npos);
  EXPECT_EQ(blobs_.size(), 1U);
}

TEST_F(TerminalTest, HiddenVariablesAreTakenAwayAndTheFolderIsFollowed) {
  ASSERT_TRUE(MakeDirs(Path("sub")));
  std::string said;
  fake_->on_wait = [&] {
    // As an editor does it, with a key in its own environment.
    std::vector<std::string> env = fake_->commands.back().variables;
    env.insert(env.end(), {"STET_TEST_HIDDEN=sesame", "PATH=/usr/bin:/bin"});
    SpawnOptions options;
    options.argv = {"bash", "-c", fake_->commands.back().arguments.at(1)};
    options.env = env;
    options.cwd = fake_->commands.back().cwd;
    const CancelToken never;
    const auto ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(1)), never);
    said = ran ? ran->out : ran.error().Text();
  };
  const TerminalRequest request{.command = "cd sub; echo [$STET_TEST_HIDDEN]",
                                .hidden = {"STET_TEST_HIDDEN"},
                                .variables = {},
                                .timeout = {}};
  Call call{.tool_call_id = "",
            .loop = loop_,
            .workspace = workspace_,
            .files = files_,
            .checkpoints = checkpoints_,
            .cancel = {},
            .editor = editor_,
            .show_terminal = [](const std::string&) {}};
  const auto ran = loop_.RunUntilDone(RunInTerminal(request, call));
  ASSERT_TRUE(ran) << ran.error().Text();
  EXPECT_EQ(said, "[]\n");
  EXPECT_EQ(ran->ended_in, Path("sub"));
}

TEST_F(TerminalTest, WhatWaitsOrIsFedOrIsKeptInRunsHere) {
  EXPECT_EQ(TextOfRun("Bash", Raw{R"({"command":"cat","stdin":"fed"})"}), "fed\n");
  EXPECT_EQ(TextOfRun("Bash", Raw{R"({"command":"echo here","wait_time":30})"}), "here\n");
  EXPECT_EQ(TextOfRun("Bash", Raw{R"({"command":"echo here","timeout":601})"}), "here\n");
  TextOfRun("Bash", Raw{R"({"command":"true","background":true})"});
  fake_->can_run = false;
  EXPECT_EQ(RunCommand("echo here"), "here\n");
  EXPECT_TRUE(fake_->commands.empty());
  background_.StopAll();
}

}  // namespace
}  // namespace stet::tool
