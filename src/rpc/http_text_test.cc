#include "rpc/http_text.h"

#include <gtest/gtest.h>

namespace stet::rpc {
namespace {

TEST(HttpTextTest, AQueryIsNamesAndValues) {
  using Members = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(*ParseQuery(""), Members{});
  EXPECT_EQ(*ParseQuery("a=1&&b=x%20y+z&c&d=e=f"),
            (Members{{"a", "1"}, {"b", "x y z"}, {"c", ""}, {"d", "e=f"}}));
  EXPECT_EQ(*ParseQuery("%E6%A7%8B=%26"), (Members{{"構", "&"}}));
  for (const char* bad : {"a=%", "a=%2", "%zz=1", "a=%ff", "a=%00"})
    EXPECT_EQ(ParseQuery(bad).error().code, Code::kInvalid) << bad;
}

TEST(HttpTextTest, ATargetIsAPathAndAQuery) {
  const auto target = ParseTarget("/a%20b/%C3%A9?x=%20&y");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a b/\xC3\xA9");
  EXPECT_EQ(target->query, "x=%20&y");
  EXPECT_EQ(ParseTarget("*")->path, "*");
  EXPECT_EQ(ParseTarget("/?")->path, "/");
}

TEST(HttpTextTest, WhatIsNoPathIsRefused) {
  for (const std::string_view text :
       {"", "a", "http://host/a", "host:80", "/%", "/%2", "/%zz", "/%00", "/%0a", "/%ff", "/\x01"})
    EXPECT_FALSE(ParseTarget(text)) << text;
}

TEST(HttpTextTest, AHeadHasWhatTheFormDecides) {
  EXPECT_EQ(ReplyHead({.status = 200, .length = 5, .keep_alive = true}, {{"A", "b"}}),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(ReplyHead({.status = 204}, {{"content-length", "7"}, {"Connection", "x"}}),
            "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(ReplyHead({.status = 200, .framing = Framing::kChunks}, {}),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

TEST(HttpTextTest, NoHeaderBringsALineOfItsOwn) {
  const Headers headers = {{"A", "b\r\nC: d"}, {"E\n", "f"}, {"", "g"}, {"H:", "i"}};
  EXPECT_EQ(ReplyHead({.status = 404}, headers),
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST(HttpTextTest, RefusalsAreUnderstoodOnTheOtherSide) {
  for (const Code code : {Code::kAuth, Code::kDenied})
    EXPECT_EQ(RefusalError(RefusalStatus(code)).code, code);
  EXPECT_EQ(RefusalStatus(Code::kInvalid), 400);
  EXPECT_EQ(RefusalError(503).code, Code::kUnavailable);
  EXPECT_EQ(RefusalError(200).code, Code::kUnavailable);
}

}  // namespace
}  // namespace stet::rpc
