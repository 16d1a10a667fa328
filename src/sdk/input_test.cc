#include "sdk/input.h"

#include <vector>

#include <gtest/gtest.h>

namespace stet::sdk {
namespace {

TEST(ReadInputTest, AMessageIsAStringOrBlocks) {
  const Result<Input> text =
      ReadInput(R"({"type":"user","uuid":"u","message":{"role":"user","content":"hi"}})");
  ASSERT_TRUE(text);
  EXPECT_EQ(std::get<UserInput>(*text).send.text, "hi");
  EXPECT_EQ(std::get<UserInput>(*text).send.client_message_id, "u");
  const Result<Input> blocks = ReadInput(
      R"({"type":"user","shouldQuery":false,"message":{"content":[{"type":"text","text":"a"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"Zg=="}},)"
      R"({"type":"text","text":"b"}]}})");
  ASSERT_TRUE(blocks);
  const auto& input = std::get<UserInput>(*blocks);
  EXPECT_EQ(input.send.text, "a\n\nb");
  ASSERT_EQ(input.send.images.size(), 1U);
  EXPECT_EQ(input.send.images[0].data, "Zg==");
  EXPECT_FALSE(input.starts_turn);
  EXPECT_EQ(input.problem, "");
}

TEST(ReadInputTest, WhatLacksWhatItsTypeNeedsIsRefused) {
  for (const char* line :
       {"", "null", "[]", "{}", R"({"type":1})", R"({"type":"user"})",
        R"({"type":"user","message":{"content":7}})", R"({"type":"control_request"})",
        R"({"type":"control_request","request_id":"r"})", R"({"type":"control_response"})",
        R"({"type":"user","message":{"content":"x"}} more)"}) {
    const Result<Input> input = ReadInput(line);
    ASSERT_FALSE(input) << line;
    EXPECT_EQ(input.error().code, Code::kInvalid) << line;
  }
  const Result<Input> other = ReadInput(R"({"type":"keep_alive"})");
  ASSERT_TRUE(other);
  EXPECT_TRUE(std::holds_alternative<OtherInput>(*other));
}

}  // namespace
}  // namespace stet::sdk
