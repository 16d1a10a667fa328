#include "tool/bounded_output.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"

namespace stet::tool {
namespace {

TEST(BoundedOutputTest, ShortTextIsUnchanged) {
  EXPECT_EQ(HeadAndTail("abc", 3, "note"), "abc");
  EXPECT_EQ(HeadAndTail("", 0, "note"), "");
}

TEST(BoundedOutputTest, LongTextKeepsWholeLinesOfItsEnds) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string shown = HeadAndTail(text, 600, "See blob x.");
  EXPECT_TRUE(shown.starts_with("line 0\nline 1\n"));
  EXPECT_TRUE(shown.ends_with("line 998\nline 999\n"));
  EXPECT_NE(shown.find("\n[... "), std::string::npos);
  EXPECT_NE(shown.find(" of 8890 bytes are left out here. See blob x.]\nline "), std::string::npos)
      << shown;
  EXPECT_LT(shown.size(), 700U);
}

TEST(BoundedOutputTest, NoCodePointIsCut) {
  Random random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 100; ++i)
      AppendUtf8(text, static_cast<char32_t>(1 + random.Below(0x1F000)));
    ASSERT_TRUE(IsValidUtf8(text));
    EXPECT_TRUE(IsValidUtf8(HeadAndTail(text, random.Below(text.size()), "n")));
  }
}

TEST(BoundedOutputTest, BytesThatAreNoTextDoNoHarm) {
  for (std::size_t max = 0; max < 50; ++max)
    EXPECT_FALSE(HeadAndTail(std::string(100, '\x80'), max, "n").empty());
}

}  // namespace
}  // namespace stet::tool
