// A host that is stopped, or killed, under a terminal: keys are echoed, the face says what it waits
// for, and nothing that was typed is lost or sent twice.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "tests/scenario/held_up_fixture.h"

namespace stet::scenario {
namespace {

TEST_F(HeldUpTest, KeysEchoWhileTheHostIsStoppedAndWhatWasSentGoesThroughOnce) {
  Signal(SIGSTOP);
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Shows("waiting for the host: send"));
  EXPECT_TRUE(pty_->Shows("unsent: list *.md"));
  // The host is stopped all this time: what is shown, the face shows by itself.
  std::vector<double> echo_ms;
  std::string typed;
  for (int key = 0; key < 50; ++key) {
    typed += static_cast<char>('a' + key % 26);
    const auto begin = std::chrono::steady_clock::now();
    pty_->Type(std::string_view(typed).substr(typed.size() - 1));
    ASSERT_TRUE(pty_->CursorRowIs("> " + typed, 2 + typed.size()));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    echo_ms.push_back(took.count());
  }
  std::ranges::sort(echo_ms);
  std::printf("echo of 50 keys while the host is stopped: p50 %.2f ms, p99 %.2f ms\n", echo_ms[25],
              echo_ms[49]);
  EXPECT_EQ(pty_->screen().Text().find("✓ Glob"), std::string::npos);
  Signal(SIGCONT);
  EXPECT_TRUE(pty_->Shows("✓ Glob *.md"));
  EXPECT_TRUE(pty_->Rests(1));
  EXPECT_TRUE(pty_->CursorRowIs("> " + typed, 2 + typed.size())) << "the line is still there";
  pty_->Type("\x15");
  Quit(*pty_);
  EXPECT_EQ(Messages().size(), 1U);
}

TEST_F(HeldUpTest, ASlashCommandWaitsWithoutHoldingUpTheRest) {
  Signal(SIGSTOP);
  pty_->Type("/permissions\r");
  EXPECT_TRUE(pty_->Shows("waiting for the host: permissions"));
  pty_->Type("half a line");
  EXPECT_TRUE(pty_->CursorRowIs("> half a line", 13));
  Signal(SIGCONT);
  EXPECT_TRUE(pty_->Shows("mode: "));
  EXPECT_TRUE(pty_->CursorRowIs("> half a line", 13));
  pty_->Type("\x15");
  Quit(*pty_);
}

TEST_F(HeldUpTest, CtrlCTwiceLeavesThoughTheHostNeverAnswers) {
  Signal(SIGSTOP);
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Shows("waiting for the host: send"));
  pty_->Type("\x03");
  EXPECT_TRUE(pty_->Shows("Ctrl-C again ends stet"));
  pty_->Type("\x03");
  EXPECT_EQ(pty_->Exit(), 130) << pty_->screen().Text();
  EXPECT_NE(pty_->bytes().find("not sent, as far as is known: list *.md"), std::string::npos);
}

TEST_F(HeldUpTest, AKilledHostIsSaidAndLeftAtOnce) {
  JoinOnly();
  Signal(SIGKILL);
  EXPECT_TRUE(pty_->Shows("the connection to the host is lost"));
  EXPECT_TRUE(pty_->Shows("the host has died. Type: stet host start"));
  pty_->Type("typed");
  EXPECT_TRUE(pty_->CursorRowIs("> typed", 7));
  pty_->Type("\x03\x03\x03");
  EXPECT_EQ(pty_->Exit(), 130) << pty_->screen().Text();
  host_ = 0;
}

TEST_F(HeldUpTest, AHostThatWasStartedAgainIsFoundAndGetsWhatWasTypedMeanwhile) {
  JoinOnly();
  Signal(SIGKILL);
  EXPECT_TRUE(pty_->Shows("the connection to the host is lost"));
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Shows("unsent: list *.md"));
  StartHost();
  EXPECT_TRUE(pty_->Shows("✓ Glob *.md"));
  EXPECT_TRUE(pty_->Rests(1));
  Quit(*pty_);
  EXPECT_EQ(Messages().size(), 1U);
}

TEST_F(HeldUpTest, AHostThatDiedIsStartedAgainAndTheSessionGoesOn) {
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Rests(1));
  Signal(SIGKILL);
  pty_->Type("list *.txt\r");
  EXPECT_TRUE(pty_->Shows("✓ Glob *.txt"));
  EXPECT_TRUE(pty_->Rests(2));
  EXPECT_EQ(pty_->screen().Text().find("(interrupted)"), std::string::npos)
      << "no turn ran when it died:\n"
      << pty_->screen().Text();
  EXPECT_NE(Status()["status"]["pid"].IntOr(host_), host_) << status_;
  Quit(*pty_);
  EXPECT_EQ(Messages().size(), 2U);
}

TEST_F(HeldUpTest, AHostThatWasStoppedIsStartedByTheNextMessage) {
  ASSERT_EQ(program_.Run({"host", "stop"}).exit_code, 0);
  EXPECT_TRUE(pty_->Shows("the host was stopped: what you send starts it again"));
  EXPECT_EQ(Status()["state"].StringOr(""), "stopped");
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Shows("✓ Glob *.md"));
  EXPECT_TRUE(pty_->Rests(1));
  EXPECT_EQ(Status()["state"].StringOr(""), "running");
  Quit(*pty_);
  EXPECT_EQ(Messages().size(), 1U);
}

/// The host dies in the middle of a turn.
class DeadTurnTest : public HeldUpTest {
 protected:
  void SetUp() override {
    Script(R"({"replies":[
      {"when":{"lastUser":"first"},"blocks":[{"text":"It never ends at all."}],"delta":1,"fault":{"kind":"stall","afterEvents":6}},
      {"times":0,"when":{"lastUser":"second"},"blocks":[{"text":"Here I am."}]}]})");
    HeldUpTest::SetUp();
    pty_->Type("first\r");
    EXPECT_TRUE(pty_->Shows("It"));
  }
};

TEST_F(DeadTurnTest, ATurnThatDiedWithItsHostHasEndedAndTheNextOneRuns) {
  Signal(SIGKILL);
  EXPECT_TRUE(pty_->Shows("(interrupted)"));
  pty_->Type("second\r");
  EXPECT_TRUE(pty_->Shows("Here I am."));
  EXPECT_TRUE(pty_->Rests(1));
  Quit(*pty_);
}

TEST_F(DeadTurnTest, AHostThatIsStoppedInATurnIsSaidNotToAnswerUntilItDoes) {
  EXPECT_TRUE(pty_->Shows("Ctrl-C stops"));
  Signal(SIGSTOP);
  EXPECT_TRUE(pty_->Shows("the host has not answered for"));
  Signal(SIGCONT);
  EXPECT_TRUE(pty_->Shows("Ctrl-C stops"));
  EXPECT_EQ(pty_->screen().Text().find("has not answered"), std::string::npos)
      << pty_->screen().Text();
  pty_->Type("\x03");
  EXPECT_TRUE(pty_->Shows("(cancelled)"));
  Quit(*pty_);
}

TEST_F(DeadTurnTest, ALateCtrlCDoesNotEndTheNextTurn) {
  Signal(SIGSTOP);
  pty_->Type("\x03");
  EXPECT_TRUE(pty_->Shows("stopping; Ctrl-C again ends stet"));
  // Behind it in the line to a host that hears neither.
  pty_->Type("second\r");
  EXPECT_TRUE(pty_->Shows("unsent: second"));
  Signal(SIGKILL);
  EXPECT_TRUE(pty_->Shows("Here I am."));
  EXPECT_TRUE(pty_->Rests(1)) << pty_->screen().Text();
  Quit(*pty_);
  EXPECT_EQ(Messages().size(), 2U);
}

TEST_F(InteractiveTest, PrintSaysWhatItWaitsForAndHowLongWhenTheModelDoesNotAnswer) {
  Script(R"({"replies":[{"fault":{"kind":"half_open"}}]})");
  const auto print = Start({"-p", "go"});
  EXPECT_TRUE(print->Shows("stet: waiting for the model, 3 s"));
  print->Type("\x03");
  EXPECT_EQ(print->Exit(), 130);
}

TEST_F(HeldUpTest, TasksAreReadFromTheLogWhenTheHostIsStopped) {
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Rests(1));
  Signal(SIGSTOP);
  const Ran listed = program_.Run({"tasks", "ls"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_NE(listed.err.find("does not answer: this is what the log has"), std::string::npos)
      << listed.err;
  Signal(SIGCONT);
  Quit(*pty_);
}

TEST_F(HeldUpTest, ACommandSaysThatItWaitsForAStoppedHostAndGoesOn) {
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Rests(1));
  Signal(SIGSTOP);
  const auto print = Start({"-p", "-c", "list *.md"});
  EXPECT_TRUE(print->Shows("stet: waiting for the background host to answer"));
  const auto stop = Start({"tasks", "stop", "task_none"});
  EXPECT_TRUE(stop->Shows("stet: waiting for the background host to answer"));
  Signal(SIGCONT);
  EXPECT_EQ(print->Exit(), 0);
  EXPECT_TRUE(stop->Shows("task_none"));
  EXPECT_EQ(stop->Exit(), 1);
}

}  // namespace
}  // namespace stet::scenario
