#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/view.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class BashTest : public ToolTest {
 protected:
  std::string Bash(const std::string& command, bool is_error = false) {
    return TextOfRun("Bash", Strings({{"command", command}}), is_error);
  }

  /// Waits for a reader of Path("fifo") and gives it a text.
  [[nodiscard]] bool WriteFifo(std::string_view text) const {
    const Fd fifo(::open(Path("fifo").c_str(), O_WRONLY | O_CLOEXEC));
    return fifo && WriteAll(fifo.get(), text).has_value();
  }

  /// Runs a command that opens Path("fifo") for writing and says a byte through it; then cancels.
  /// Returns when no process has it open any more.
  Outcome RunAndCancel(const std::string& command) {
    EXPECT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
    bool all_ended = false;
    std::thread canceller([&] {
      const int fifo = ::open(Path("fifo").c_str(), O_RDONLY | O_CLOEXEC);
      char c = 0;
      EXPECT_EQ(::read(fifo, &c, 1), 1);
      cancel_.Cancel();
      all_ended = ::read(fifo, &c, 1) == 0;
      ::close(fifo);
    });
    Outcome outcome = Run("Bash", Strings({{"command", command}}));
    canceller.join();
    EXPECT_TRUE(all_ended);
    return outcome;
  }
};

TEST_F(BashTest, OutputAndErrorsComeTogetherInOrder) {
  EXPECT_EQ(Bash("echo one; echo two >&2; echo three"), "one\ntwo\nthree\n");
  EXPECT_EQ(Bash("true"), "(no output)\n");
  EXPECT_EQ(Bash("printf x"), "x\n");
}

TEST_F(BashTest, AnExitCodeIsSaidWhenItIsNotZero) {
  EXPECT_EQ(Bash("echo a; exit 3", true), "a\nExit code 3\n");
  EXPECT_EQ(Bash("false", true), "Exit code 1\n");
  EXPECT_EQ(Bash("kill -9 $$", true), "Killed by signal 9.\n");
  const Outcome outcome = Run("Bash", R"({"command":"exit 4"})");
  EXPECT_EQ(JsonView(outcome.details->text)["exitCode"].Int(), 4);
}

TEST_F(BashTest, TheShellsOwnMessagesNameTheCommandsLines) {
  const std::string text = Bash("echo a\nif", true);
  EXPECT_NE(text.find("line "), std::string::npos);
  EXPECT_EQ(text.find("trap"), std::string::npos) << text;
}

TEST_F(BashTest, ThereIsNoTerminalAndNoInput) {
  EXPECT_EQ(Bash("cat; test -t 0 || echo none; echo $PAGER $GIT_EDITOR $TERM"),
            "none\ncat false dumb\n");
  Bash("read x </dev/tty", true);
  EXPECT_EQ(Bash("echo [$BASH_ENV]"), "[]\n");
}

TEST_F(BashTest, ProgramsThatAskForAPasswordAreAnsweredNo) {
  for (const char* name : {"SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS"})
    Bash(std::string("\"$") + name + "\" password", true);
  EXPECT_EQ(Bash("echo $SSH_ASKPASS_REQUIRE $GIT_TERMINAL_PROMPT"), "force 0\n");
}

TEST_F(BashTest, InputIsFedAndThenEnds) {
  EXPECT_EQ(TextOfRun("Bash", Strings({{"command", "cat; echo end"}, {"stdin", "some\ninput "}})),
            "some\ninput end\n");
  const std::string large(900'000, 'x');
  EXPECT_EQ(TextOfRun("Bash", Strings({{"command", "wc -c"}, {"stdin", large}})), "900000\n");
  EXPECT_EQ(TextOfRun("Bash", Strings({{"command", "true"}, {"stdin", large}})), "(no output)\n");
}

TEST_F(BashTest, OutputComesAsUpdatesWhileItRuns) {
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  on_update_ = [&] {
    if (updates_.size() == 1) {
      EXPECT_TRUE(WriteFifo("go\n"));
    }
  };
  EXPECT_EQ(Bash("echo first; seq 1 3000; read x <fifo; echo second"), [] {
    std::string all = "first\n";
    for (int i = 1; i <= 3000; ++i) all += std::to_string(i) + "\n";
    return all + "second\n";
  }());
  ASSERT_FALSE(updates_.empty());
  EXPECT_LE(updates_[0].size(), 4096U);
  EXPECT_TRUE(updates_[0].ends_with("2999\n3000\n")) << updates_[0];
}

TEST_F(BashTest, SecretsStayWithUs) {
  ASSERT_EQ(::setenv("STET_TEST_SECRET", "sesame", 1), 0);
  ASSERT_EQ(::setenv("STET_TEST_OTHER", "open", 1), 0);
  EXPECT_EQ(Bash("echo [$STET_TEST_SECRET] [$STET_TEST_OTHER]"), "[] [open]\n");
  EXPECT_EQ(Bash("env | grep -c sesame", true), "0\nExit code 1\n");
  ::unsetenv("STET_TEST_SECRET");
  ::unsetenv("STET_TEST_OTHER");
}

TEST_F(BashTest, TheWorkingDirectoryFollowsCdInsideTheProject) {
  ASSERT_TRUE(MakeDirs(Path("it's a dir/sub")));
  EXPECT_EQ(Bash("cd \"it's a dir\" && false", true),
            "Exit code 1\n(The working directory is now " + Path("it's a dir") + ".)\n");
  EXPECT_EQ(Bash("cd sub; exit 0"),
            "(The working directory is now " + Path("it's a dir/sub") + ".)\n");
  EXPECT_EQ(Bash("pwd"), Path("it's a dir/sub") + "\n");
  EXPECT_EQ(Bash("cd /"), "(The working directory stays " + Path("it's a dir/sub") +
                              ": it follows cd inside the project only.)\n");
  EXPECT_EQ(Bash("(cd ..)"), "(no output)\n");
}

TEST_F(BashTest, WhateverTheCommandDoesToTheShellItsExitCodeCounts) {
  ASSERT_TRUE(MakeDirs(Path("d")));
  Bash("set -eu -o noclobber; cd d; pwd() { echo no; }; exit 5", true);
  EXPECT_EQ(workspace_.cwd, Path("d"));
  EXPECT_EQ(Bash("set -x; :"), "+ :\n") << "the trap is not shown";
  EXPECT_EQ(Bash("trap 'echo bye' EXIT; cd .."), "bye\n");
  EXPECT_EQ(workspace_.cwd, Path("d")) << "its own trap took our place";
  EXPECT_EQ(Bash("exec echo gone"), "gone\n");
  EXPECT_EQ(Bash("rmdir ../d"), "(no output)\n");
  EXPECT_EQ(Bash("echo here"),
            "here\n(The working directory was gone. It is now " + Path("") + ".)\n");
}

TEST_F(BashTest, LongOutputIsShownInPartAndKeptWhole) {
  const std::string text = Bash("seq 1 20000");
  EXPECT_LT(text.size(), 16'400U);
  EXPECT_TRUE(text.starts_with("1\n2\n"));
  EXPECT_TRUE(text.ends_with("\n20000\n"));
  ASSERT_EQ(blobs_.size(), 1U);
  EXPECT_TRUE(blobs_.begin()->second.starts_with("1\n2\n"));
  EXPECT_TRUE(blobs_.begin()->second.ends_with("19999\n20000\n"));
  EXPECT_NE(text.find("The whole is in blob:" + blobs_.begin()->first), std::string::npos);
}

TEST_F(BashTest, OutputThatIsNoTextIsMadeSo) {
  EXPECT_EQ(Bash("printf 'a\\xffb\\n'"), "a\uFFFDb\n");
}

TEST_F(BashTest, ATimeoutStopsTheCommand) {
  const Outcome outcome = Run("Bash", R"({"command":"echo start; sleep 100","timeout":1})");
  EXPECT_TRUE(outcome.is_error);
  EXPECT_EQ(TextOf(outcome), "start\nStopped after 1 s, which was its timeout.\n");
}

TEST_F(BashTest, WhatStillRunsAtTheEndIsKilled) {
  EXPECT_EQ(Bash("sleep 1000 & setsid nohup sleep 1000 & echo done"), "done\n");
}

TEST_F(BashTest, WhatItDidToFilesIsToldAsFacts) {
  Put("read.txt", "old");
  Put("gone.txt", "old");
  Put("same.txt", "old");
  Read("read.txt");
  Read("same.txt");
  const Outcome outcome =
      Run("Bash", R"({"command":"echo new >read.txt; rm gone.txt; echo x >made; touch same.txt"})");
  EXPECT_EQ(TextOf(outcome), "(no output)\n");
  ASSERT_EQ(outcome.writes.size(), 3U);
  const auto fact = [](const char* op, std::string path, std::optional<std::string> before,
                       std::optional<std::string> after) {
    return protocol::FileFact{.op = op,
                              .path = std::move(path),
                              .before = std::move(before),
                              .after = std::move(after),
                              .tool_call_id = "call_1"};
  };
  EXPECT_EQ(Encode(outcome.writes[0]),
            Encode(fact("delete", Path("gone.txt"), Sha256Hex("old"), std::nullopt)));
  EXPECT_EQ(Encode(outcome.writes[1]),
            Encode(fact("outside_write", Path("made"), std::nullopt, Sha256Hex("x\n"))));
  EXPECT_EQ(Encode(outcome.writes[2]),
            Encode(fact("outside_write", Path("read.txt"), Sha256Hex("old"), Sha256Hex("new\n"))));
  EXPECT_EQ(JsonView(outcome.details->text)["scan"]["entries"].Int(), 3);
  EXPECT_EQ(JsonView(outcome.details->text)["scan"]["capped"].Bool(), false);
}

TEST_F(BashTest, EveryFileThatItChangedIsOnRecord) {
  const Outcome outcome =
      Run("Bash", R"({"command":"mkdir d; ln -s d l; for i in $(seq 250); do echo >f$i; done"})");
  ASSERT_EQ(outcome.writes.size(), 252U);
  EXPECT_EQ(outcome.writes[0].op, "folder");
  EXPECT_EQ(outcome.writes[0].path, Path("d"));
  EXPECT_EQ(outcome.writes[251].after, "link:" + Sha256Hex("d"));
}

TEST_F(BashTest, CancellingEndsASleepingCommand) {
  const Outcome outcome = RunAndCancel("mkfifo hold; exec 9>fifo; printf x >&9; read x <>hold");
  EXPECT_TRUE(outcome.is_error);
  EXPECT_EQ(TextOf(outcome), "Stopped: the call was cancelled.\n");
}

TEST_F(BashTest, CancellingEndsGrandchildrenOfTheGroup) {
  RunAndCancel("mkfifo hold; exec 9>fifo; ( (printf x >&9; read x <>hold) & ); read x <>hold");
}

TEST_F(BashTest, CancellingEndsACommandThatIgnoresTheFirstSignal) {
  RunAndCancel("trap '' TERM; exec 9>fifo; printf x >&9; sleep 1000; sleep 1000");
}

TEST_F(BashTest, AnEmptyCommandOrAWrongTimeoutIsRefused) {
  EXPECT_TRUE(Run("Bash", R"({"command":""})").is_error);
  EXPECT_TRUE(Run("Bash", R"({"command":"a\u0000b"})").is_error);
  EXPECT_TRUE(Run("Bash", R"({"command":"true","timeout":86401})").is_error);
  EXPECT_TRUE(Run("Bash", R"({"command":"true","wait_time":601})").is_error);
}

TEST_F(BashTest, TheIntentHasTheCommand) {
  const auto intent =
      registry_.Find("Bash")->Intend(Strings({{"command", "make -j2\nmake test"}}), workspace_);
  ASSERT_TRUE(intent);
  EXPECT_TRUE(intent->effects);
  EXPECT_EQ(intent->command, "make -j2\nmake test");
  EXPECT_EQ(intent->summary, "make -j2");
}

}  // namespace
}  // namespace stet::tool
