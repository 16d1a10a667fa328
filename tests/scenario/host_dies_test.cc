// What a terminal does when its host dies or is stopped: it says so, comes back, shows the turn
// that was interrupted, and can be left in every state. And what a host's clients see is what they
// would see without it.
#include <chrono>
#include <regex>

#include "tests/scenario/held_up_fixture.h"

namespace stet::scenario {
namespace {

using std::chrono::milliseconds;

/// The host dies in the middle of a turn.
class InterruptedTurnTest : public HeldUpTest {
 protected:
  void SetUp() override {
    Script(R"({"replies":[
      {"when":{"lastUser":"first"},"blocks":[{"text":"It never ends at all."}],"delta":1,"fault":{"kind":"stall","afterEvents":6}},
      {"times":0,"blocks":[{"text":"Now it has ended."}]}]})");
    HeldUpTest::SetUp();
    pty_->Type("first\r");
    EXPECT_TRUE(pty_->Shows("It"));
  }
};

TEST_F(InterruptedTurnTest, IsShownWithContinueWhichGoesOnWithIt) {
  const auto killed = std::chrono::steady_clock::now();
  Signal(SIGKILL);
  EXPECT_TRUE(pty_->Shows("(interrupted)"));
  EXPECT_TRUE(pty_->Shows("/continue goes on with it"));
  EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(2));
  pty_->Type("/continue\r");
  EXPECT_TRUE(pty_->Shows("Now it has ended."));
  EXPECT_TRUE(pty_->Rests(1));
  Quit(*pty_);
  EXPECT_EQ(Messages().size(), 1U);
}

TEST_F(InterruptedTurnTest, AHostThatFallsSilentIsToldWithinTwoSeconds) {
  const auto stopped = std::chrono::steady_clock::now();
  Signal(SIGSTOP);
  EXPECT_TRUE(pty_->Shows("the host has not answered for"));
  EXPECT_LT(std::chrono::steady_clock::now() - stopped, milliseconds(2'500));
  Signal(SIGCONT);
  pty_->Type("\x03");
  EXPECT_TRUE(pty_->Shows("(cancelled)"));
  Quit(*pty_);
}

TEST_F(InterruptedTurnTest, EscapeStopsItAndTheNextKeyIsTyped) {
  pty_->Type("\x1bx");
  EXPECT_TRUE(pty_->Shows("(cancelled)"));
  EXPECT_TRUE(pty_->CursorRowIs("> x", 3));
  pty_->Type("\x15");
  Quit(*pty_);
}

TEST_F(InterruptedTurnTest, AHangUpEndsTheTerminalWhateverTheHostDoes) {
  Signal(SIGSTOP);
  pty_->Signal(SIGHUP);
  EXPECT_TRUE(pty_->EndsWithin(std::chrono::seconds(8)));
}

TEST_F(InterruptedTurnTest, NoClientOutlivesItsTerminal) {
  Signal(SIGSTOP);
  pty_->Type("behind it\r");
  pty_->HangUp();
  EXPECT_TRUE(pty_->EndsWithin(std::chrono::seconds(8)));
}

TEST_F(HeldUpTest, CtrlDLeavesAnIdleTerminalWhoseHostDoesNotAnswer) {
  Signal(SIGSTOP);
  pty_->Type("\x04");
  EXPECT_TRUE(pty_->EndsWithin(std::chrono::seconds(8))) << "the host does not answer";
}

TEST_F(HeldUpTest, CtrlDLeavesAlsoWhereSomethingIsAsked) {
  pty_->Type("replace hello with bye in README.md\r");
  EXPECT_TRUE(pty_->Shows("a always in this session: Edit"));
  Quit(*pty_);
  EXPECT_EQ(Read("README.md"), "# hello\nint main is here\n");
}

TEST_F(HeldUpTest, EscapeStopsATurnThatAsks) {
  pty_->Type("replace hello with bye in README.md\r");
  EXPECT_TRUE(pty_->Shows("a always in this session: Edit"));
  pty_->Type("\x1b");
  EXPECT_TRUE(pty_->Shows("(cancelled)"));
  Quit(*pty_);
}

TEST_F(HeldUpTest, AHangUpEndsTheListOfSessions) {
  pty_->Type("list *.md\r");
  EXPECT_TRUE(pty_->Rests(1));
  Quit(*pty_);
  pty_ = Start({"-r"});
  EXPECT_TRUE(pty_->Shows("Which session?"));
  pty_->Signal(SIGHUP);
  EXPECT_TRUE(pty_->EndsWithin(std::chrono::seconds(8)));
}

/// The screen without what differs from one run to the next: times and ids.
std::string Comparable(const std::string& text) {
  const std::regex varies(R"((\d+ ms|\d+ s|ses_\w+|\d+(\.\d+)?k? (in|out)))");
  return std::regex_replace(text, varies, "*");
}

constexpr std::string_view kTools = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"sleep 1.2; echo out; echo err >&2"}}}]},
  {"blocks":[{"call":{"name":"Bash","args":{"command":"echo broken >&2; exit 3"}}},
             {"call":{"name":"Read","args":{"file_path":"none.txt"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

class SameThroughAHostTest : public InteractiveTest {
 protected:
  std::string Screen(const std::string& join) {
    more_settings_ = "[host]\njoin='" + join + "'\n";
    Script(kTools);
    const auto pty = Ready({"--permission-mode", "bypass"});
    pty->Type("go\r");
    EXPECT_TRUE(pty->Shows("Done."));
    EXPECT_TRUE(pty->Rests(1));
    const std::string shown = pty->screen().Text();
    const std::regex took(R"(✓ Bash sleep 1\.2.*  1 s)");
    EXPECT_TRUE(std::regex_search(shown, took)) << "how long it took:\n" << shown;
    Quit(*pty);
    return Comparable(shown);
  }
};

TEST_F(SameThroughAHostTest, TimesErrorsAndOutputAreThoseOfAProcessWithoutOne) {
  const std::string without = Screen("never");
  EXPECT_EQ(Screen("auto"), without);
}

TEST_F(InteractiveTest, WhoComesLateSeesWhatRunsAndSinceWhen) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo begun; sleep 30"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  const auto one = Ready({"--permission-mode", "bypass"});
  one->Type("go\r");
  EXPECT_TRUE(one->Shows("Bash, 3 s: echo begun"));
  const auto two = Start({"attach"});
  EXPECT_TRUE(two->Shows("s: echo begun; sleep 30"));
  const std::string shown = two->screen().Text();
  const std::regex since(R"(Bash, ([3-9]|\d\d) s: echo begun; sleep 30 +([3-9]|\d\d) s )");
  EXPECT_TRUE(std::regex_search(shown, since)) << shown;
  two->Type("\x1b");
  EXPECT_TRUE(one->Shows("(cancelled)"));
  Quit(*two);
  Quit(*one);
}

}  // namespace
}  // namespace stet::scenario
