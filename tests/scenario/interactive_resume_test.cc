// `stet` at a terminal: sessions that go on, go back, and are picked.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

using InteractiveResumeTest = InteractiveTest;

TEST_F(InteractiveResumeTest, ASessionThatIsContinuedShowsWhatWasSaid) {
  {
    const auto pty = Ready();
    pty->Type("read README.md\r");
    EXPECT_TRUE(pty->Shows("2  int main is here"));
    Quit(*pty);
  }
  const auto pty = Start({"-c"});
  EXPECT_TRUE(pty->Shows("> read README.md"));
  EXPECT_TRUE(pty->Shows("✓ Read README.md"));
  EXPECT_TRUE(pty->Shows("2  int main is here"));
  pty->Type("list *.md\r");
  EXPECT_TRUE(pty->Shows("✓ Glob *.md"));
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, ASessionInWhichNothingWasSaidIsNotGoneOnWith) {
  ASSERT_EQ(program_.Run({"-p", "list *.md"}).exit_code, 0);
  Quit(*Ready());
  const auto pty = Start({"-c"});
  EXPECT_TRUE(pty->Shows("✓ Glob *.md"));
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, AHangUpDoesNotEndTheWork) {
  Script(R"({"replies":[{"blocks":[{"text":"one two three four five six seven eight nine ten"}],
    "delta":4,"pauseMs":150}]})");
  {
    const auto pty = Ready();
    pty->Type("go\r");
    EXPECT_TRUE(pty->Shows("one two"));
    pty->Signal(SIGHUP);
    EXPECT_EQ(pty->Exit(), 130);
  }
  const auto pty = Start({"-c"});
  EXPECT_TRUE(pty->Shows("nine ten"));
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, AHangUpLeavesASessionThatGoesOn) {
  more_settings_ = "[host]\njoin='never'\n";
  Script(R"({"replies":[
    {"blocks":[{"text":"one two three four five six"}],"delta":4,"fault":{"kind":"stall","afterEvents":6}},
    {"when":{"contains":"was interrupted"},"blocks":[{"text":"Here is the rest."}]}]})");
  {
    const auto pty = Ready();
    pty->Type("go\r");
    EXPECT_TRUE(pty->Shows("one two"));
    pty->Signal(SIGHUP);
    EXPECT_EQ(pty->Exit(), 130);
  }
  const Ran verified = program_.Run({"sessions", "verify", "--all"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  const auto pty = Start({"-c"});
  EXPECT_TRUE(pty->Shows("one two"));
  EXPECT_TRUE(pty->Shows("/continue goes on with it"));
  pty->Type("/continue\r");
  EXPECT_TRUE(pty->Shows("Here is the rest."));
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, WhatWasAskedWhenItDiedIsAskedAgain) {
  {
    const auto pty = Ready();
    pty->Type("write a.txt: one\r");
    EXPECT_TRUE(pty->Shows("y once"));
    EXPECT_TRUE(pty->Shows("g everywhere")) << "no choice is cut";
    pty->Signal(SIGKILL);
    EXPECT_EQ(pty->Exit(), -1);
  }
  const auto pty = Start({"-c"});
  EXPECT_TRUE(pty->Shows("y once"));
  pty->Type("y");
  EXPECT_TRUE(pty->Shows("✓ Write a.txt"));
  EXPECT_EQ(Read("a.txt"), "one");
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, ARewindListsPromptsAndPutsFilesBack) {
  const auto pty = Ready({"--permission-mode", "acceptEdits"});
  pty->Type("read README.md\r");
  EXPECT_TRUE(pty->Rests(1));
  pty->Type("replace hello with bye in README.md\r");
  EXPECT_TRUE(pty->Shows("✓ Edit README.md"));
  EXPECT_TRUE(pty->Rests(2));
  EXPECT_EQ(Read("README.md"), "# bye\nint main is here\n");
  pty->Type("/rewind\r");
  EXPECT_TRUE(pty->Shows("1  replace hello with bye in README.md"));
  EXPECT_TRUE(pty->Shows("2  read README.md"));
  pty->Type("1\r");
  EXPECT_TRUE(pty->Shows("README.md: changed by Edit: README.md"));
  EXPECT_TRUE(pty->Shows("b both"));
  pty->Type("b");
  EXPECT_TRUE(pty->Shows("1 of 1 files put back"));
  EXPECT_EQ(Read("README.md"), "# hello\nint main is here\n");
  EXPECT_TRUE(pty->CursorRowIs("> replace hello with bye in README.md", 37));
  pty->Type("\x15/branch\r");
  EXPECT_TRUE(pty->Shows("to which of these"));
  pty->Type("1\r");
  EXPECT_TRUE(pty->Shows("now at e_"));
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, ASessionIsPickedFromAList) {
  for (const char* prompt : {"read README.md", "list *.md"}) {
    const Ran ran = program_.Run({"-p", prompt});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }
  const auto pty = Start({"-r"});
  EXPECT_TRUE(pty->Shows("Which session?"));
  EXPECT_TRUE(pty->Shows("> list *.md"));
  pty->Type("\x1b[B");
  EXPECT_TRUE(pty->Shows("> read README.md"));
  pty->Type("list");
  EXPECT_TRUE(pty->Shows("> list *.md"));
  pty->Type("\r");
  EXPECT_TRUE(pty->Shows("/help"));
  EXPECT_TRUE(pty->Shows("✓ Glob *.md"));
  EXPECT_TRUE(pty->CursorRowIs(">", 2));
  pty->Type("/resume\r");
  EXPECT_TRUE(pty->Shows("Which session?"));
  pty->Type("read\r");
  EXPECT_TRUE(pty->Shows("✓ Read README.md"));
  Quit(*pty);
}

TEST_F(InteractiveResumeTest, APickerCanBeLeft) {
  const Ran ran = program_.Run({"-p", "list *.md"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto pty = Start({"-r"});
  EXPECT_TRUE(pty->Shows("Which session?"));
  pty->Type("\x1b");
  EXPECT_EQ(pty->Exit(), 0);
}

TEST_F(InteractiveResumeTest, ASessionIsExportedAndTitled) {
  const auto pty = Ready();
  pty->Type("read README.md\r");
  EXPECT_TRUE(pty->Rests(1));
  pty->Type("/title The one\r");
  EXPECT_TRUE(pty->Shows("titled: The one"));
  pty->Type("/export out.jsonl\r");
  EXPECT_TRUE(pty->Shows("written: out.jsonl"));
  pty->Type("/context\r");
  EXPECT_TRUE(pty->Shows("tokens of the window"));
  Quit(*pty);
  EXPECT_NE(Read("out.jsonl").find("The one"), std::string::npos);
}

}  // namespace
}  // namespace stet::scenario
