#include "sdk/partial_reply.h"

#include <gtest/gtest.h>

namespace stet::sdk {
namespace {

std::string Shown(PartialReply& reply, protocol::TransientPayload payload) {
  protocol::Transient transient;
  transient.transient = std::move(payload);
  std::string all;
  for (const std::string& part : reply.Take(transient)) all += part + "\n";
  return all;
}

protocol::MessageStart Start() {
  protocol::MessageStart start;
  start.event_id = "e";
  return start;
}

protocol::TextDelta Text(std::int64_t block, std::string text) {
  protocol::TextDelta delta;
  delta.event_id = "e";
  delta.block_index = block;
  delta.delta = std::move(text);
  return delta;
}

TEST(PartialReplyTest, BlocksAreNumberedInTheOrderTheyShowAndEndWithTheMessage) {
  PartialReply reply;
  Shown(reply, Start());
  // Block 0 is hidden.
  EXPECT_EQ(Shown(reply, Text(1, "a")),
            R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})"
            "\n"
            R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})"
            "\n");
  // Two may be open at once.
  EXPECT_NE(Shown(reply, Text(2, "b")).find(R"("index":1)"), std::string::npos);
  EXPECT_EQ(Shown(reply, Text(1, "c")),
            R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"c"}})"
            "\n");
  protocol::BlockEnd end;
  end.event_id = "e";
  end.block_index = 1;
  EXPECT_EQ(Shown(reply, end), "{\"type\":\"content_block_stop\",\"index\":0}\n");
  EXPECT_EQ(Shown(reply, end), "");
  protocol::Event event;
  event.id = "e";
  protocol::AssistantMessage message;
  message.message.stop_reason = "end";
  const std::vector<std::string> last = reply.Take(event, message);
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0], R"({"type":"content_block_stop","index":1})");
  EXPECT_NE(last[1].find(R"("stop_reason":"end_turn")"), std::string::npos);
  EXPECT_EQ(last[2], R"({"type":"message_stop"})");
}

TEST(PartialReplyTest, AReplyThatIsVoidEndsAndTheNextOneBeginsAnew) {
  PartialReply reply;
  EXPECT_EQ(Shown(reply, Text(0, "before any start")), "");
  Shown(reply, Start());
  Shown(reply, Text(0, "a"));
  protocol::MessageCancelled gone;
  gone.event_id = "e";
  EXPECT_TRUE(Shown(reply, gone).ends_with("{\"type\":\"message_stop\"}\n"));
  EXPECT_EQ(Shown(reply, gone), "");
  Shown(reply, Start());
  EXPECT_NE(Shown(reply, Text(0, "a")).find("content_block_start"), std::string::npos);
}

}  // namespace
}  // namespace stet::sdk
