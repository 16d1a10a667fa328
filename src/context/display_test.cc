#include "context/display.h"

#include <gtest/gtest.h>

namespace stet::context {
namespace {

protocol::DisplayRow RowOf(protocol::Payload payload) {
  protocol::Event event;
  event.id = "e_1";
  event.stamp.ts = 7;
  event.payload = std::move(payload);
  return ToDisplay(event);
}

protocol::Block Said(const std::string& text) {
  protocol::TextBlock block;
  block.text = text;
  return block;
}

TEST(DisplayTest, AMessageIsItsBlocksInTheirOrder) {
  protocol::AssistantMessage message;
  message.partial = true;
  message.message.blocks.push_back(Said("I look."));
  protocol::ToolCallBlock call;
  call.tool_name = "Read";
  call.args = Raw{R"({"path":"a"})"};
  message.message.blocks.push_back(call);
  const protocol::DisplayRow row = RowOf(std::move(message));
  EXPECT_EQ(row.id, "e_1");
  EXPECT_EQ(row.ts, 7);
  EXPECT_EQ(row.tone, "assistant");
  EXPECT_EQ(row.title, "assistant (cut short)");
  ASSERT_EQ(row.parts.size(), 2U);
  EXPECT_EQ(row.parts[0].kind, "text");
  EXPECT_EQ(row.parts[0].text, "I look.");
  EXPECT_EQ(row.parts[1].kind, "call");
  EXPECT_EQ(row.parts[1].text, "Read");
  EXPECT_EQ(row.parts[1].detail, R"({"path":"a"})");
}

TEST(DisplayTest, AResultIsItsTextWhateverItsForm) {
  for (const char* content : {R"([{"type":"text","text":"done"}])", R"("done")"}) {
    protocol::ToolResult result;
    result.is_error = true;
    result.content = Raw{content};
    const protocol::DisplayRow row = RowOf(std::move(result));
    EXPECT_EQ(row.tone, "problem");
    ASSERT_EQ(row.parts.size(), 1U);
    EXPECT_EQ(row.parts[0].text, "done");
  }
  protocol::ToolResult other;
  other.content = Raw{R"({"a":1})"};
  EXPECT_EQ(RowOf(std::move(other)).parts.at(0).text, R"({"a":1})");
}

TEST(DisplayTest, HiddenItemsSaySoAndOtherTypesHaveTheirName) {
  protocol::HarnessItem item;
  item.item.kind = "pin";
  item.item.content = "a rule";
  item.item.visibility = "hidden";
  const protocol::DisplayRow row = RowOf(item);
  EXPECT_TRUE(row.hidden);
  EXPECT_EQ(row.title, "pin");
  item.item.visibility = "visible";
  EXPECT_FALSE(RowOf(item).hidden);
  const protocol::DisplayRow other = RowOf(protocol::Turn());
  EXPECT_EQ(other.title, "turn");
  EXPECT_EQ(other.tone, "aside");
  EXPECT_TRUE(other.parts.empty());
}

}  // namespace
}  // namespace stet::context
