// `stet` at a terminal: editing, history, signals, and the terminal's modes.
#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

using InteractiveKeysTest = InteractiveTest;

constexpr std::string_view kUp = "\x1b[A";
constexpr std::string_view kLeft = "\x1b[D";

bool SameModes(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_lflag == b.c_lflag &&
         a.c_cflag == b.c_cflag && std::ranges::equal(a.c_cc, b.c_cc);
}

TEST_F(InteractiveKeysTest, WideCharactersAreEditedWhereTheyStand) {
  const auto pty = Ready();
  pty->Type("日本語e\xCC\x81x");
  EXPECT_TRUE(pty->CursorRowIs("> 日本語e\xCC\x81x", 10));
  for (int i = 0; i < 3; ++i) pty->Type(kLeft);
  EXPECT_TRUE(pty->CursorRowIs("> 日本語e\xCC\x81x", 6));
  pty->Type("\x7f");
  EXPECT_TRUE(pty->CursorRowIs("> 日語e\xCC\x81x", 4));
  pty->Type("\x01|\x05|");
  EXPECT_TRUE(pty->CursorRowIs("> |日語e\xCC\x81x|", 10));
  pty->Type("\x15");
  EXPECT_TRUE(pty->CursorRowIs(">", 2));
  Quit(*pty);
}

TEST_F(InteractiveKeysTest, ALongLineWrapsAndTheCursorFollows) {
  const auto pty = Ready();
  pty->Type(std::string(150, 'x'));
  EXPECT_TRUE(pty->CursorRowIs("  " + std::string(53, 'x'), 55));
  pty->Type("\x01");
  EXPECT_TRUE(pty->CursorRowIs("> " + std::string(97, 'x'), 2));
  pty->Type("\x0b");
  Quit(*pty);
}

TEST_F(InteractiveKeysTest, APasteMakesLinesAndSendsNothing) {
  Script(
      R"({"replies":[{"when":{"lastUser":"first\nsecond\nthird"},"blocks":[{"text":"Three lines."}]}]})");
  const auto pty = Ready();
  pty->Type("\x1b[200~first\rsecond\r\n\x1b[201~");
  EXPECT_TRUE(pty->CursorRowIs("", 2));
  pty->Type("third");
  EXPECT_TRUE(pty->CursorRowIs("  third", 7));
  pty->Type("\r");
  EXPECT_TRUE(pty->Shows("Three lines."));
  Quit(*pty);
}

TEST_F(InteractiveKeysTest, ABackslashOrAltEnterMakesALine) {
  Script(R"({"replies":[{"when":{"lastUser":"a\nb\nc"},"blocks":[{"text":"Three lines."}]}]})");
  const auto pty = Ready();
  pty->Type("a\\\rb\x1b\rc\r");
  EXPECT_TRUE(pty->Shows("Three lines."));
  Quit(*pty);
}

TEST_F(InteractiveKeysTest, WhatWasWrittenCanBeRecalledAlsoInAnotherRun) {
  {
    const auto pty = Ready();
    pty->Type("/title one\r");
    EXPECT_TRUE(pty->Shows("titled: one"));
    pty->Type("/title\\\rtwo\r");
    EXPECT_TRUE(pty->Shows("titled: two"));
    Quit(*pty);
  }
  struct stat file{};
  ASSERT_EQ(::stat((program_.home() + "/prompts.jsonl").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
  const auto pty = Ready();
  pty->Type("draft");
  pty->Type(kUp);
  EXPECT_TRUE(pty->CursorRowIs("  two", 5));
  pty->Type(kUp);
  pty->Type(kUp);
  EXPECT_TRUE(pty->CursorRowIs("> /title one", 12));
  pty->Type("\x1b[B\x1b[B\x1b[B");
  EXPECT_TRUE(pty->CursorRowIs("> draft", 7));
  pty->Type("\x15");
  Quit(*pty);
}

TEST_F(InteractiveKeysTest, CtrlLAndANewSizeDrawThePromptAgain) {
  const auto pty = Ready();
  pty->Type("kept");
  EXPECT_TRUE(pty->CursorRowIs("> kept", 6));
  pty->Type("\x0c");
  EXPECT_TRUE(pty->CursorRowIs("> kept", 6));
  pty->Resize(60, 20);
  pty->Type("!");
  EXPECT_TRUE(pty->CursorRowIs("> kept!", 7));
  pty->Type("\x15");
  Quit(*pty);
}

TEST_F(InteractiveKeysTest, TheTerminalIsAsItWasWhateverEndsTheProgram) {
  // A shell keeps the terminal open, so that its modes can be looked at afterwards.
  const std::string stet = std::getenv("STET_BIN");
  for (const std::string ending : {"quit", "term", "int"}) {
    Pty pty({"/bin/sh", "-c", "trap : TERM; '" + stet + "'; echo code $?; read x"}, program_.work(),
            Environment());
    const termios before = pty.Modes();
    ASSERT_TRUE(pty.Shows("/help"));
    ASSERT_TRUE(pty.CursorRowIs(">", 2));
    EXPECT_FALSE(SameModes(before, pty.Modes()));
    if (ending == "quit") pty.Type("\x04");
    if (ending == "int") pty.Type("\x03\x03");
    if (ending == "term") pty.SignalForeground(SIGTERM);
    EXPECT_TRUE(pty.Shows(ending == "quit" ? "code 0" : "code 130"));
    EXPECT_TRUE(SameModes(before, pty.Modes())) << ending;
    EXPECT_NE(pty.bytes().find("\x1b[?2004l"), std::string::npos) << ending;
    pty.Type("\r");
    pty.Exit();
  }
}

TEST_F(InteractiveKeysTest, CtrlZSuspendsAndFgComesBack) {
  Pty pty({"/bin/bash", "--norc", "--noprofile", "-i"}, program_.work(), Environment());
  pty.Type("PS1='shell: '; echo ready\r");
  ASSERT_TRUE(pty.Shows("\nready"));
  pty.Type(std::string(std::getenv("STET_BIN")) + "\r");
  ASSERT_TRUE(pty.Shows("/help"));
  pty.Type("half a line");
  ASSERT_TRUE(pty.CursorRowIs("> half a line", 13));
  const termios inside = pty.Modes();
  pty.Type("\x1a");
  ASSERT_TRUE(pty.Shows("Stopped"));
  ASSERT_TRUE(pty.CursorRowIs("shell:", 7));
  EXPECT_EQ(pty.bytes().rfind("\x1b[?2004l") > pty.bytes().rfind("half a line"), true);
  pty.Type("fg\r");
  ASSERT_TRUE(pty.CursorRowIs("> half a line", 13));
  EXPECT_TRUE(SameModes(inside, pty.Modes()));
  pty.Type("\x15/title back\r");
  EXPECT_TRUE(pty.Shows("titled: back"));
  pty.Type("/quit\r");
  ASSERT_TRUE(pty.CursorRowIs("shell:", 7));
  pty.Type("exit\r");
  EXPECT_EQ(pty.Exit(), 0);
}

}  // namespace
}  // namespace stet::scenario
