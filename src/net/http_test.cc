#include "net/http.h"

#include "net/http_fixture.h"

namespace stet::net {
namespace {

using std::string_literals::operator""s;

TEST_F(HttpTest, ARequestIsSentAsItWasGivenAndItsReplyHeard) {
  std::string seen;
  RawServer server([&](Peer& peer) {
    seen = peer.ReadRequest();
    EXPECT_TRUE(
        peer.Write("HTTP/1.1 404 Gone\r\nX-One:  a b \r\nx-TWO:\r\nContent-Length: 2\r\n\r\nno"));
  });
  request_.url = server.Url();
  request_.headers = {{"x-test", "yes"}, {"content-type", "text/plain"}};
  request_.body = std::string("a\0b", 3);
  const HttpEnd end = loop_.RunUntilDone(http_.Send(request_, sink_, {}));
  EXPECT_EQ(end.trouble, HttpTrouble::kNone) << end.message;
  EXPECT_EQ(end.status, 404);
  EXPECT_EQ(sink_.head_status, 404);
  const Headers expected = {{"x-one", "a b"}, {"x-two", ""}, {"content-length", "2"}};
  EXPECT_EQ(sink_.head, expected);
  EXPECT_EQ(sink_.body, "no");
  server.Stop();
  EXPECT_TRUE(seen.starts_with("POST /path HTTP/1.1\r\n")) << seen;
  EXPECT_TRUE(seen.ends_with(std::string("\r\n\r\na\0b", 7))) << seen;
  for (const char* line :
       {"\r\nx-test: yes\r\n", "\r\ncontent-type: text/plain\r\n", "\r\nUser-Agent: stet/"})
    EXPECT_NE(seen.find(line), std::string::npos) << seen;
}

TEST_F(HttpTest, ALargeBodyDoesNotAskFirst) {
  std::size_t length = 0;
  bool asks = false;
  RawServer server([&](Peer& peer) {
    const std::string seen = peer.ReadRequest();
    length = seen.size();
    asks = seen.find("Expect") != std::string::npos;
    EXPECT_TRUE(peer.Write(ReplyWith("ok")));
  });
  request_.url = server.Url();
  request_.body = std::string(std::size_t{4} << 20, 'x');
  EXPECT_EQ(loop_.RunUntilDone(http_.Send(request_, sink_, {})).status, 200);
  server.Stop();
  EXPECT_GT(length, request_.body.size());
  EXPECT_FALSE(asks);
}

TEST_F(HttpTest, TheNextRequestUsesTheSameConnection) {
  RawServer server([](Peer& peer) {
    while (!peer.ReadRequest().empty()) EXPECT_TRUE(peer.Write(ReplyWith("ok")));
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
  EXPECT_EQ(sink_.body, "okokok");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpTest, AConnectionThatTheServerClosedIsReplacedUnseen) {
  RawServer server([](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(ReplyWith("ok")));
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
  EXPECT_EQ(sink_.body, "okokok");
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(HttpTest, ABodyWithoutALengthEndsWithTheConnection) {
  const RawServer server([](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write("HTTP/1.1 200 OK\r\n\r\nall of it"));
  });
  EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
  EXPECT_EQ(sink_.body, "all of it");
}

TEST_F(HttpTest, ABodyThatIsCutShortIsBrokenAndItsBytesWereHeard) {
  for (const std::string& reply :
       {"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nsome"s,
        std::string(kChunkedHead) + Chunk("some"), std::string(kChunkedHead) + "9\r\nsome"}) {
    const RawServer server([&](Peer& peer) {
      peer.ReadRequest();
      EXPECT_TRUE(peer.Write(reply));
    });
    sink_.body.clear();
    const HttpEnd end = Get(server.Url());
    EXPECT_EQ(end.trouble, HttpTrouble::kBroken) << reply;
    EXPECT_EQ(end.status, 200);
    EXPECT_NE(end.message, "");
    EXPECT_EQ(sink_.body, "some");
  }
}

TEST_F(HttpTest, HeadsBeforeTheRealOneAreNotHeard) {
  const RawServer server([](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write("HTTP/1.1 100 Continue\r\nx-early: 1\r\n\r\n"));
    EXPECT_TRUE(peer.Write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"));
    EXPECT_TRUE(peer.Write(ReplyWith("ok")));
  });
  EXPECT_EQ(Get(server.Url()).status, 200);
  EXPECT_EQ(sink_.heads, 1);
  EXPECT_EQ(sink_.head, (Headers{{"content-length", "2"}}));
  EXPECT_EQ(sink_.body, "ok");
}

TEST_F(HttpTest, ARedirectIsAReplyLikeAnyOther) {
  RawServer other([](Peer& peer) { peer.AwaitClose(); });
  const RawServer server([&](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(fmt::format(
        "HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", other.Url())));
  });
  const HttpEnd end = Get(server.Url());
  EXPECT_EQ(end.trouble, HttpTrouble::kNone);
  EXPECT_EQ(end.status, 302);
  EXPECT_EQ(sink_.head[0], std::pair("location"s, other.Url()));
  other.Stop();
  EXPECT_EQ(other.connections(), 0);
}

TEST_F(HttpTest, HeadersOfAMegabyteAreRefused) {
  const std::string long_line = "x: " + std::string(std::size_t{1} << 20, 'a') + "\r\n";
  std::string many_lines;
  for (int i = 0; i < 20'000; ++i) many_lines += fmt::format("x-{}: {:040}\r\n", i, i);
  for (const std::string& headers : {long_line, many_lines}) {
    const RawServer server([&](Peer& peer) {
      peer.ReadRequest();
      // The client may be gone before the end of it.
      (void)peer.Write("HTTP/1.1 200 OK\r\n" + headers + "Content-Length: 2\r\n\r\nok");
      peer.AwaitClose();
    });
    const HttpEnd end = Get(server.Url());
    EXPECT_EQ(end.trouble, HttpTrouble::kBroken);
    EXPECT_NE(end.message.find("header"), std::string::npos) << end.message;
    EXPECT_EQ(sink_.heads, 0);
    EXPECT_EQ(sink_.body, "");
  }
}

TEST_F(HttpTest, WhatIsNoHttpIsBroken) {
  for (const char* bytes :
       {"220 mail.example ESMTP\r\n", "\x15\x03\x01\x00\x02\x02\x28", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const RawServer server([&](Peer& peer) {
      peer.ReadRequest();
      EXPECT_TRUE(peer.Write(bytes));
    });
    const HttpEnd end = Get(server.Url());
    EXPECT_EQ(end.trouble, HttpTrouble::kBroken) << bytes << ": " << end.message;
    EXPECT_NE(end.message, "");
  }
}

TEST_F(HttpTest, AConnectionThatIsClosedUnansweredIsBroken) {
  const RawServer server([](Peer& peer) { peer.ReadRequest(); });
  const HttpEnd end = Get(server.Url());
  EXPECT_EQ(end.trouble, HttpTrouble::kBroken);
  EXPECT_EQ(end.status, 0);
}

TEST_F(HttpTest, WhereNobodyListensThereIsNoConnection) {
  RawServer server([](Peer&) {});
  server.Stop();
  const HttpEnd end = Get(server.Url());
  EXPECT_EQ(end.trouble, HttpTrouble::kConnect) << end.message;
  EXPECT_NE(end.message, "");
}

TEST_F(HttpTest, AnAddressThatMakesNoSenseIsSaid) {
  for (const char* url :
       {"", "http://", "file:///etc/passwd", "ftp://127.0.0.1/", "http://a b/", "http://[::1"})
    EXPECT_EQ(Get(url).trouble, HttpTrouble::kBadUrl) << url;
}

TEST_F(HttpTest, WhatSpeaksNoTlsIsATroubleOfTls) {
  const RawServer server([](Peer& peer) {
    EXPECT_TRUE(peer.Write("this is no handshake\r\n"));
    peer.AwaitClose();
  });
  const HttpEnd end = Get(server.Url("https"));
  EXPECT_EQ(end.trouble, HttpTrouble::kTls) << end.message;
}

}  // namespace
}  // namespace stet::net
