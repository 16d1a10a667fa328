#include "protocol/wire.h"

#include <gtest/gtest.h>

#include "base/example_fixture.h"
#include "base/source_dir_fixture.h"

namespace stet::protocol {
namespace {

TEST(WireTest, TheExamplesOfThePageAreMessages) {
  const std::vector<std::string> examples = ExampleLines(FormatPage(SourceDir(), "wire.md"));
  ASSERT_GE(examples.size(), 10U);
  for (const std::string& example : examples) {
    const FromClient client = ReadFromClient(example);
    const FromHost host = ReadFromHost(example);
    EXPECT_TRUE(!std::holds_alternative<Raw>(client) || !std::holds_alternative<Raw>(host))
        << example;
    std::string again = std::holds_alternative<Raw>(client) ? Encode(host) : Encode(client);
    EXPECT_EQ(again, example);
  }
}

TEST(WireTest, WhatIsNoMessageIsReadAsNothing) {
  for (const char* text : {"", "{", "[]", "3", R"({"type":"reply","requestId":7})",
                           R"({"type":"nothing"})", R"({"requestId":"1"})"}) {
    EXPECT_TRUE(std::holds_alternative<Raw>(ReadFromClient(text))) << text;
    EXPECT_TRUE(std::holds_alternative<Raw>(ReadFromHost(text))) << text;
  }
}

TEST(WireTest, ErrorsKeepTheirNameOverTheWire) {
  const Error error(Code::kBusy, "somebody has it");
  EXPECT_EQ(FromWire(ToWire(error)).code, Code::kBusy);
  EXPECT_EQ(FromWire(ToWire(error)).message, "somebody has it");
  WireError strange;
  strange.code = "made_up";
  EXPECT_EQ(FromWire(strange).code, Code::kUnsupported);
}

TEST(WireTest, ASessionsParamsBeginWithItsId) {
  EXPECT_EQ(ForSession("s1", "{}"), R"({"sessionId":"s1"})");
  EXPECT_EQ(ForSession("s\"1", R"({"a":1})"), R"({"sessionId":"s\"1","a":1})");
}

}  // namespace
}  // namespace stet::protocol
