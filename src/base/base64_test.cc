#include "base/base64.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(Base64Test, EveryLengthIsPaddedToFourLetters) {
  std::string out = "x:";
  AppendBase64(out, "");
  EXPECT_EQ(out, "x:");
  AppendBase64(out, "f");
  EXPECT_EQ(out, "x:Zg==");
  out.clear();
  AppendBase64(out, "fo");
  EXPECT_EQ(out, "Zm8=");
  out.clear();
  AppendBase64(out, std::string_view("\x00\xff\xfe", 3));
  EXPECT_EQ(out, "AP/+");
}

TEST(Base64Test, WhatIsWrittenIsReadBackAndNothingElseIs) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("Zg=="), "f");
  EXPECT_EQ(DecodeBase64("Zm\n8= "), "fo");
  EXPECT_EQ(DecodeBase64("AP/+"), std::string("\x00\xff\xfe", 3));
  EXPECT_EQ(DecodeBase64("Zg="), std::nullopt);
  EXPECT_EQ(DecodeBase64("Zg"), std::nullopt);
  EXPECT_EQ(DecodeBase64("Zm8*"), std::nullopt);
  EXPECT_EQ(DecodeBase64("Zg==Zg=="), std::nullopt);
}

}  // namespace
}  // namespace stet
