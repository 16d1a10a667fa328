#include "tool/shell/output.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"

namespace stet::tool {
namespace {

class ShellOutputTest : public testing::Test {
 protected:
  ShellOutputTest() : output_(ShellOutput::Make(temp_.Sub("output")).value()) {}

  std::string Show(std::uint64_t from = 0) {
    return output_.Show(from, [&](std::string_view bytes) -> Result<std::string> {
      blob_ = bytes;
      return "B";
    });
  }

  TempDir temp_;
  ShellOutput output_;
  std::string blob_;
};

TEST_F(ShellOutputTest, WhatIsShortIsShownWholeFromAnywhere) {
  EXPECT_EQ(Show(), "");
  output_.Add("one\n");
  output_.Add("two\n");
  EXPECT_EQ(Show(), "one\ntwo\n");
  EXPECT_EQ(Show(4), "two\n");
  EXPECT_EQ(Show(8), "");
  EXPECT_EQ(Show(99), "");
  EXPECT_EQ(output_.total(), 8U);
}

TEST_F(ShellOutputTest, WhatIsLongIsShownInPartAndGoesToABlob) {
  std::string all;
  for (int i = 0; i < 20'000; ++i) all += std::to_string(i) + "\n";
  for (std::size_t at = 0; at < all.size(); at += 777) output_.Add(all.substr(at, 777));
  const std::string shown = Show(2);
  EXPECT_TRUE(shown.starts_with("1\n2\n"));
  EXPECT_TRUE(shown.ends_with("19998\n19999\n"));
  EXPECT_NE(shown.find("The whole is in blob:B, which Read shows."), std::string::npos);
  EXPECT_EQ(blob_, all.substr(2));
  EXPECT_EQ(Show(all.size() - 6), "19999\n");
}

TEST_F(ShellOutputTest, BeyondTheCapOnlyTheEndIsKept) {
  const std::string chunk(1 << 20, 'x');
  output_.Add("head\n");
  for (int i = 0; i < 20; ++i) output_.Add(chunk);
  output_.Add("\ntail\n");
  const std::string shown = Show();
  EXPECT_TRUE(shown.starts_with("head\n"));
  EXPECT_TRUE(shown.ends_with("\ntail\n"));
  EXPECT_NE(
      shown.find("The beginning is in blob:B, which Read shows. 4194315 bytes of it were dropped."),
      std::string::npos)
      << shown.substr(5000, 1000);
  EXPECT_EQ(blob_.size(), ShellOutput::kMaxKeptBytes);
  EXPECT_EQ(Show(output_.total() - 5), "tail\n");
  EXPECT_LT(Show(output_.total() - 100'000).size(), 17'000U);
}

TEST_F(ShellOutputTest, TheTailBeginsWithALine) {
  output_.Add("first line\nsecond\nthird\n");
  EXPECT_EQ(output_.Tail(100), "first line\nsecond\nthird\n");
  EXPECT_EQ(output_.Tail(10), "third\n");
  EXPECT_EQ(output_.Tail(3), "rd\n");
}

}  // namespace
}  // namespace stet::tool
