#include "tool/toolset.h"

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

using protocol::ToolSpec;
using protocol::ToolSpecs;

const ToolSpec kRead{
    .name = "Read",
    .description = "Reads \"a\".\n",
    .schema = Raw{R"({"type":"object", "properties":{"n":{"type":"integer"}},"required":["n"]})"}};
const ToolSpec kBash{.name = "Bash", .description = "Runs."};

TEST(ToolsetTest, TheBlobHasTheListInItsOrderAndGivesItBackToTheByte) {
  const ToolSpecs specs{kRead, kBash};
  const std::string json = EncodeToolSpecs(specs);
  EXPECT_EQ(json, R"([{"name":"Read","description":"Reads \"a\".\n","schema":{"type":"object", )"
                  R"("properties":{"n":{"type":"integer"}},"required":["n"]}},)"
                  R"({"name":"Bash","description":"Runs.","schema":{"type":"object"}}])");
  const Result<ToolSpecs> again = DecodeToolSpecs(json);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, specs);
  EXPECT_EQ(EncodeToolSpecs(*again), json);
  EXPECT_EQ(DecodeToolSpecs("[]")->size(), 0U);
}

TEST(ToolsetTest, WhatIsNoListIsDamage) {
  for (const char* json : {"", "{}", "[", "[{}", "null"}) {
    const Result<ToolSpecs> specs = DecodeToolSpecs(json);
    ASSERT_FALSE(specs) << json;
    EXPECT_EQ(specs.error().code, Code::kCorrupt);
  }
}

TEST(ToolsetTest, ACallIsCheckedAgainstWhatWasShown) {
  const Toolset toolset({kRead, kBash});
  EXPECT_TRUE(toolset.Check("Read", Raw{R"({"n":1})"}));
  EXPECT_EQ(toolset.Check("Read", Raw{R"({"n":"x"})"}).error().code, Code::kInvalid);
  const Error unknown = toolset.Check("read", Raw{R"({"n":1})"}).error();
  EXPECT_EQ(unknown.code, Code::kNotFound);
  EXPECT_EQ(unknown.message, "There is no tool named read. Did you mean Read, Bash?");
  EXPECT_EQ(toolset.Find("Write"), nullptr);
}

TEST(ToolsetTest, ASchemaThatThisVersionCannotReadRefusesNothing) {
  const Toolset toolset({{.name = "Odd", .description = "", .schema = Raw{"3"}}});
  EXPECT_TRUE(toolset.Check("Odd", Raw{R"({"n":"x"})"}));
}

TEST(ToolsetTest, ToolsetsAreTheSameWhenTheirListsAre) {
  EXPECT_EQ(Toolset({kRead, kBash}), Toolset({kRead, kBash}));
  EXPECT_NE(Toolset({kRead, kBash}), Toolset({kBash, kRead}));
  ToolSpec other = kRead;
  other.description += ".";
  EXPECT_NE(Toolset({kRead}), Toolset({other}));
}

}  // namespace
}  // namespace stet::tool
