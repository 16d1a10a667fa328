#include "log/line.h"

#include <gtest/gtest.h>

#include "protocol/event.h"

namespace stet::log {
namespace {

std::string Sealed(std::string object) {
  SealLine(object, 0);
  object.pop_back();
  return object;
}

std::string EventLine(int seq) {
  return Sealed(
      R"({"seq":)" + std::to_string(seq) + R"(,"id":"e_)" + std::to_string(seq) +
      R"(","parentId":null,"type":"custom","ts":1,"clientId":"c","kind":"k","data":{"seq":1}})");
}

TEST(Line, EveryFlippedBitIsNoticed) {
  const std::string line = EventLine(1);
  ASSERT_TRUE(CheckLine(line));
  for (std::size_t byte = 0; byte < line.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = line;
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      EXPECT_FALSE(CheckLine(damaged)) << byte << "." << bit;
    }
  }
}

TEST(Line, EveryTruncationIsNoticed) {
  const std::string line = EventLine(1);
  for (std::size_t length = 0; length < line.size(); ++length)
    EXPECT_FALSE(CheckLine(line.substr(0, length)));
}

TEST(Line, ThePrefixHoldsWhatAnIndexNeeds) {
  const std::optional<Prefix> prefix = ReadPrefix(
      R"({"seq":12,"id":"e","parentId":"p","type":"message","ts":34,"clientId":"c","turnId":"t","critical":true,"role":"user",)"
      R"("clientMessageId":"m\"1","queueItemId":"q","source":"user","message":{"clientMessageId":"no"}})");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->seq, 12u);
  EXPECT_EQ(prefix->id, "e");
  EXPECT_EQ(prefix->parent_id, "p");
  EXPECT_EQ(prefix->type, "message");
  EXPECT_EQ(prefix->ts, 34);
  EXPECT_TRUE(prefix->critical);
  EXPECT_EQ(prefix->role, "user");
  EXPECT_EQ(prefix->client_message_id, R"(m\"1)");
  EXPECT_EQ(prefix->client_message_id, EscapedText("m\"1"));
  EXPECT_EQ(prefix->queue_item_id, "q");
}

TEST(Line, WhatIsNoEventHasNoPrefix) {
  for (const std::string_view text : {"", "{", "{\"seq\":x", "{\"seq\":1,\"id\":\"a",
                                      "{\"version\":1}", "[1]", "{\"seq\":1,\"id\":\"a\\"}) {
    EXPECT_FALSE(ReadPrefix(text)) << text;
  }
}

TEST(Line, AReseatedLineKeepsEveryOtherByte) {
  const std::string line = Sealed(
      R"({"seq":5,"id":"a\u0062","parentId":"x","type":"t","ts":1,"clientId":"c","z":1e400})");
  std::string out = "before\n";
  AppendReseated(out, line, 9, "y");
  EXPECT_EQ(
      out,
      "before\n" +
          Sealed(
              R"({"seq":9,"id":"a\u0062","parentId":"y","type":"t","ts":1,"clientId":"c","z":1e400})") +
          "\n");
}

TEST(Line, LinesSurviveInsideADamagedStretch) {
  const std::string bytes = EventLine(1) + "K" + EventLine(2);  // The LF between them was hit.
  const std::vector<Piece> pieces = SplitDamaged(bytes);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_TRUE(pieces[0].good);
  EXPECT_FALSE(pieces[1].good);
  EXPECT_EQ(pieces[1].length, 1u);
  EXPECT_TRUE(pieces[2].good);
  EXPECT_EQ(bytes.substr(pieces[2].offset, pieces[2].length), EventLine(2));
}

TEST(Line, AGoodLineBehindATornOneIsFound) {
  const std::string bytes = EventLine(1).substr(0, 40) + EventLine(2);
  const std::vector<Piece> pieces = SplitDamaged(bytes);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_FALSE(pieces[0].good);
  EXPECT_EQ(bytes.substr(pieces[1].offset, pieces[1].length), EventLine(2));
}

TEST(Line, PlainDamageIsOnePiece) {
  const std::vector<Piece> pieces = SplitDamaged("nothing to see");
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_FALSE(pieces[0].good);
}

}  // namespace
}  // namespace stet::log
