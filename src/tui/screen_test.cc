#include "tui/screen.h"

#include <gtest/gtest.h>

#include "tui/vt_fixture.h"

namespace stet::tui {
namespace {

constexpr std::size_t kColumns = 10;
constexpr std::size_t kRows = 6;

class ScreenTest : public testing::Test {
 protected:
  void Prompt(const std::string& text) {
    screen_.Show(LayOut("> ", text, text.size(), screen_.columns(), 4));
    vt_.Feed(screen_.Take());
  }

  Screen screen_{kColumns, kRows};
  VtScreen vt_{kColumns, kRows};
};

TEST_F(ScreenTest, TextGoesOnInsideALineAboveThePrompt) {
  for (const char* piece : {"Hel", "lo", " wor", "ld, and m", "ore\nnext"}) {
    screen_.Print(piece);
    Prompt("typed");
  }
  EXPECT_EQ(vt_.Text(), "Hello worl\nd, and mor\ne\nnext\n> typed");
  EXPECT_EQ(vt_.cursor_column(), 7u);
}

TEST_F(ScreenTest, ALineThatEndsAtTheEdgeLeavesNoEmptyRow) {
  screen_.Print("0123456789");
  Prompt("a");
  EXPECT_EQ(vt_.Text(), "0123456789\n> a");
  screen_.Print("\nnext");
  Prompt("b");
  EXPECT_EQ(vt_.Text(), "0123456789\nnext\n> b");
  screen_.Print("\n0123456789");
  Prompt("c");
  screen_.Print("go on");
  Prompt("d");
  EXPECT_EQ(vt_.Text(), "0123456789\nnext\n0123456789\ngo on\n> d");
}

TEST_F(ScreenTest, WideCharactersWrapWhole) {
  for (const char* piece : {"012345678", "世", "界"}) {
    screen_.Print(piece);
    Prompt("x");
  }
  EXPECT_EQ(vt_.Text(), "012345678\n世界\n> x");
}

TEST_F(ScreenTest, EveryPrefixOfAScrollingTextIsRight) {
  std::string all;
  for (int line = 0; line < 30; ++line) {
    const std::string text =
        std::string(static_cast<std::size_t>(line % 13), static_cast<char>('a' + line % 26)) + "\n";
    for (const char c : text) {
      screen_.Print(std::string_view(&c, 1));
      Prompt(line % 3 == 0 ? "short" : "a longer line of input");
    }
    all += text;
  }
  VtScreen plain(kColumns, kRows);
  for (const char c : all) plain.Feed(c == '\n' ? "\r\n" : std::string_view(&c, 1));
  EXPECT_TRUE(vt_.Text().starts_with(plain.Text())) << vt_.Text();
}

TEST_F(ScreenTest, WhatDidNotChangeIsNotSent) {
  Prompt("same");
  screen_.Show(LayOut("> ", "same", 4, kColumns, 4));
  EXPECT_EQ(screen_.Take(), "");
}

TEST_F(ScreenTest, ColoursTakeNoRoom) {
  screen_.Print("\x1b[1m01234\x1b[0m56789");
  Prompt("x");
  EXPECT_EQ(vt_.Text(), "0123456789\n> x");
  EXPECT_EQ(StyledWidth("\x1b[31m世\x1b[0m"), 2u);
}

TEST_F(ScreenTest, NothingIsLeftWhenThePromptIsHidden) {
  screen_.Print("text\n");
  Prompt("a longer line");
  screen_.Hide();
  vt_.Feed(screen_.Take());
  EXPECT_EQ(vt_.Text(), "text");
}

}  // namespace
}  // namespace stet::tui
