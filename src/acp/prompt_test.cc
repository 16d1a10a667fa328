#include "acp/prompt.h"

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

Result<protocol::Send> Read(const std::string& blocks) {
  return ReadPrompt(JsonView(blocks), "/p");
}

std::string Problem(const std::string& blocks) {
  const Result<protocol::Send> send = Read(blocks);
  return send ? "" : send.error().message;
}

TEST(PromptTest, TextsOfTheirOwnAreParagraphsAndLinksStandInTheirSentence) {
  EXPECT_EQ(Read(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])")->text, "a\n\nb");
  EXPECT_EQ(Read(R"([{"type":"text","text":"look at"},)"
                 R"({"type":"resource_link","name":"a.cc","uri":"file:///p/src/a.cc"},)"
                 R"({"type":"text","text":", then stop"}])")
                ->text,
            "look at @src/a.cc, then stop");
  EXPECT_EQ(Read(R"([{"type":"resource_link","name":"x","uri":"file:///q/a%20b.txt#L3"},)"
                 R"({"type":"text","text":"is it"}])")
                ->text,
            "@\"/q/a b.txt\" is it");
  EXPECT_EQ(
      Read(R"([{"type":"resource_link","name":"the issue","uri":"https://example.org/1"}])")->text,
      "[the issue](https://example.org/1)");
}

TEST(PromptTest, WhatIsEmbeddedStandsBehindTheMessageUnderItsName) {
  EXPECT_EQ(Read(R"([{"type":"text","text":"sum up"},)"
                 R"({"type":"resource","resource":{"uri":"file:///p/a.md","text":"# A"}}])")
                ->text,
            "sum up a.md\n\n<context from=a.md>\n# A\n</context>");
  const Result<protocol::Send> binary = Read(
      R"([{"type":"resource","resource":{"uri":"file:///p/a.bin","mimeType":"x/y","blob":"AA=="}}])");
  EXPECT_EQ(binary->text, "a.bin\n\n(a.bin is binary, x/y: its content is not shown)");
}

TEST(PromptTest, ImagesGoAlong) {
  const Result<protocol::Send> send = Read(
      R"([{"type":"text","text":"what is it"},{"type":"image","mimeType":"image/png","data":"Zg=="},)"
      R"({"type":"resource","resource":{"uri":"u","mimeType":"image/gif","blob":"Zw=="}}])");
  ASSERT_TRUE(send);
  EXPECT_EQ(send->text, "what is it");
  ASSERT_EQ(send->images.size(), 2U);
  EXPECT_EQ(send->images[0].data, "Zg==");
  EXPECT_EQ(send->images[1].media_type, "image/gif");
}

TEST(PromptTest, ABlockThatCannotBeTakenIsNamed) {
  EXPECT_EQ(Problem("{}"), "prompt must be an array of content blocks");
  EXPECT_EQ(Problem("[]"), "prompt: there is nothing to send");
  EXPECT_EQ(Problem(R"([{"type":"text","text":"a"},{"type":"audio"}])"),
            "prompt[1]: a block of type \"audio\" cannot be sent");
  EXPECT_EQ(Problem(R"([{"type":"image","data":"?"}])"),
            "prompt[0]: the data of an image is not base64");
  EXPECT_EQ(Problem(R"([{"type":"text"}])"), "prompt[0]: text must be a string");
  EXPECT_EQ(Problem(R"([{"type":"resource","resource":{"uri":"u"}}])"),
            "prompt[0]: resource needs text or blob");
}

TEST(PromptTest, OnlyFilesOfThisMachineHaveAPath) {
  EXPECT_EQ(PathOfUri("file:///a%2Fb?x#y"), "/a/b");
  EXPECT_EQ(PathOfUri("file://localhost/a"), "/a");
  EXPECT_EQ(PathOfUri("/a b"), "/a b");
  EXPECT_EQ(PathOfUri("file:///a%zz%4"), "/a%zz%4");
  for (const char* uri : {"file://other/a", "https://a/b", "a", "", "file:///a%00b", "file:///%ff"})
    EXPECT_EQ(PathOfUri(uri), "") << uri;
}

}  // namespace
}  // namespace stet::acp
