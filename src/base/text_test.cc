#include "base/text.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stet {
namespace {

TEST(TextTest, BlanksAreTakenOffBothEndsOnly) {
  EXPECT_EQ(Trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trimmed(" \n "), "");
  EXPECT_EQ(Trimmed(""), "");
  EXPECT_EQ(Trimmed("--a--", "-"), "a");
}

TEST(TextTest, OnlyLettersOfAsciiAreMadeSmall) {
  EXPECT_EQ(Lower("ÄBC@[z"), "Äbc@[z");
  EXPECT_EQ(LowerChar('Q'), 'q');
}

TEST(TextTest, WhatWasPutInIsNotLookedAtAgain) {
  EXPECT_EQ(Replaced("a key, keys", "key", "[key]"), "a [key], [key]s");
  EXPECT_EQ(Replaced("kkk", "k", "kk"), "kkkkkk");
  EXPECT_EQ(Replaced("aab", "ab", "b"), "ab") << "not even with what stood before it";
  EXPECT_EQ(Replaced("text", "", "x"), "text");
  EXPECT_EQ(Replaced("", "a", "b"), "");
}

TEST(TextTest, ReplacingEndsWhateverTheTextsAre) {
  Random random(18);
  const auto letters = [&](std::uint64_t most) {
    std::string text;
    for (std::uint64_t left = random.Below(most); left > 0; --left)
      text += "key[]"[random.Below(5)];
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = letters(40);
    const std::string from = letters(5);
    const std::string to = letters(8);
    std::size_t times = 0;
    for (std::size_t at = 0; !from.empty() && at < text.size();) {
      const bool here = text.substr(at).starts_with(from);
      times += here ? 1 : 0;
      at += here ? from.size() : 1;
    }
    const std::string replaced = Replaced(text, from, to);
    EXPECT_EQ(replaced.size() + times * from.size(), text.size() + times * to.size())
        << text << " " << from << " " << to;
    EXPECT_TRUE(times != 0 || replaced == text);
  }
}

TEST(TextTest, TheFirstLineEndsAtEitherKindOfLineEnd) {
  EXPECT_EQ(FirstLine("one\r\ntwo"), "one");
  EXPECT_EQ(FirstLine("one\ntwo"), "one");
  EXPECT_EQ(FirstLine("\ntwo"), "");
  EXPECT_EQ(FirstLine("whole"), "whole");
}

TEST(TextTest, ALineEndAtTheEndBringsNoEmptyLine) {
  const std::vector<std::string_view> lines = {"a", "", "b"};
  EXPECT_EQ(SplitLines("a\n\nb\n"), lines);
  EXPECT_EQ(SplitLines("a\n\nb"), lines);
  EXPECT_TRUE(SplitLines("").empty());
}

}  // namespace
}  // namespace stet
