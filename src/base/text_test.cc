#include "base/text.h"

#include <gtest/gtest.h>

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
