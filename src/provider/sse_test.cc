#include "provider/sse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stet::provider {
namespace {

/// "name|data;" per event; ends with "!" when the stream was refused.
std::string Parsed(const std::vector<std::string_view>& pieces) {
  SseParser parser;
  std::string out;
  const SseParser::OnEvent on_event = [&](std::string_view event, std::string_view data) {
    out += std::string(event) + "|" + std::string(data) + ";";
  };
  bool ok = true;
  for (const std::string_view piece : pieces) ok = parser.Feed(piece, on_event);
  ok = parser.Finish(on_event) && ok;
  return ok ? out : out + "!";
}

std::string Parsed(std::string_view bytes) { return Parsed(std::vector{bytes}); }

TEST(SseTest, AnEventHasANameAndData) {
  EXPECT_EQ(Parsed("event: ping\ndata: {}\n\ndata: x\n\n"), "ping|{};|x;");
}

TEST(SseTest, LinesEndInThreeWays) {
  EXPECT_EQ(Parsed("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\n"), "|a;|b;|c;|d;");
}

TEST(SseTest, ALineMayEndAtAnyByte) {
  // High bytes and neighbours of the line breaks are none.
  const std::string filling = "\x0b\x0c\x8a\x8d\xff\x09\x0e" + std::string(30, 'x');
  for (std::size_t length = 0; length <= filling.size(); ++length) {
    const std::string data = filling.substr(0, length);
    for (const std::string_view end : {"\n", "\r", "\r\n"}) {
      const std::string bytes = fmt::format("data:{0}{1}{1}data:{0}{1}", data, end);
      EXPECT_EQ(Parsed(bytes), fmt::format("|{0};|{0};", data));
    }
  }
}

TEST(SseTest, OneSpaceBehindTheColonIsNotData) {
  EXPECT_EQ(Parsed("data:a\n\ndata:  b\n\ndata\n\ndata: \n\n"), "|a;| b;|;|;");
}

TEST(SseTest, LinesOfDataAreJoined) {
  EXPECT_EQ(Parsed("data: a\ndata:\ndata: b\n\n"), "|a\n\nb;");
}

TEST(SseTest, CommentsOtherFieldsAndEventsWithoutDataAreNone) {
  EXPECT_EQ(Parsed(": PROCESSING\n\nid: 7\nretry: 10\nnew: x\n\nevent: a\n\ndata: b\n\n"), "|b;");
}

TEST(SseTest, AByteOrderMarkIsPassedOverAtTheStartOnly) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBF"
                   "data: a\n\n\xEF\xBB\xBF"
                   "data: b\n\n"),
            "|a;");
}

TEST(SseTest, TheLastEventNeedsNoBlankLine) {
  EXPECT_EQ(Parsed("data: a\n\ndata: b\n"), "|a;|b;");
  EXPECT_EQ(Parsed("data: a\n\nevent: x\ndata: b"), "|a;x|b;");
  EXPECT_EQ(Parsed("data: a\n\ndat"), "|a;");
}

TEST(SseTest, AnEventMayComeInAnyPieces) {
  const std::string bytes =
      "\xEF\xBB\xBF: hello\r\n\r\nevent: one\r\ndata: a\r\ndata: b\r\n\r\ndata:c\r\rdata: d\n\n"
      "event: two\ndata: \xC3\xA9\r\n\r\ndata: last";
  const std::string whole = Parsed(bytes);
  EXPECT_EQ(whole, "one|a\nb;|c;|d;two|\xC3\xA9;|last;");
  for (std::size_t i = 0; i <= bytes.size(); ++i)
    ASSERT_EQ(Parsed({std::string_view(bytes).substr(0, i), std::string_view(bytes).substr(i)}),
              whole)
        << i;
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string_view> pieces;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      pieces.push_back(rest.substr(0, random.Below(6)));  // Some are empty.
      rest.remove_prefix(pieces.back().size());
    }
    ASSERT_EQ(Parsed(pieces), whole);
  }
}

TEST(SseTest, WhatIsTooLargeEndsTheStreamForGood) {
  const std::string most(SseParser::kMaxEvent - 6, 'x');
  EXPECT_EQ(Parsed("data: " + most + "\n\n").size(), most.size() + 2);
  EXPECT_EQ(Parsed("data: a\n\ndata: " + most + "y\n\ndata: b\n\n"), "|a;!");
  EXPECT_EQ(Parsed("data: " + most + "\ndata: more..\n\ndata: b\n\n"), "!");
}

TEST(SseTest, ALineIsTooLargeInPiecesAndAtOnce) {
  const std::string comment = ":" + std::string(SseParser::kMaxEvent, 'x');
  EXPECT_EQ(Parsed(comment + "\ndata: a\n\n"), "!");
  EXPECT_EQ(Parsed({comment, "\ndata: a\n\n"}), "!");
  EXPECT_EQ(Parsed({std::string_view(comment).substr(0, 100), std::string_view(comment).substr(100),
                    "\ndata: a\n\n"}),
            "!");
}

}  // namespace
}  // namespace stet::provider
