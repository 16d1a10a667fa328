#include "rpc/server.h"

#include <fmt/format.h>

#include "rpc/rpc_fixture.h"

namespace stet::rpc {
namespace {

using std::chrono::milliseconds;

std::string Get(std::string_view target, std::string_view more = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, more);
}

class ServerTest : public RpcTest {
 protected:
  /// All that the server says to these bytes before it closes.
  std::string Answer(std::string_view bytes) {
    auto peer = Connect();
    peer->Send(bytes);
    RunUntil([&] { return peer->ended(); }, "the server closes");
    return peer->received();
  }
  /// The status of the only reply; 0 without one.
  int StatusAfter(std::string_view bytes) {
    const std::string answer = Answer(bytes);
    return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
  }
};

TEST_F(ServerTest, ARequestIsHandedOverAsItIs) {
  Listen();
  auto peer = ConnectTcp();
  peer->Send(
      "POST /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-Thing:  One \r\nx-thing: two\r\n"
      "Content-Length: 5\r\n\r\nhello");
  RunUntil([&] { return peer->Has("POST /a b"); }, "the reply");
  ASSERT_EQ(requests_.size(), 1U);
  const HttpRequest& request = requests_.front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query, "c=d");
  EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(request.Header("x-thing"), "One");
  EXPECT_EQ(request.Header("none"), "");
  EXPECT_FALSE(request.peer.local);
  EXPECT_TRUE(request.peer.address.starts_with("127.0.0.1:")) << request.peer.address;
  EXPECT_EQ(peer->received(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n"
            "Connection: keep-alive\r\n\r\nPOST /a b");
}

TEST_F(ServerTest, ALocalPeerIsKnownByItsProcess) {
  Listen();
  EXPECT_EQ(StatusAfter(Get("/", "Connection: close\r\n")), 200);
  const Peer& peer = requests_.front().peer;
  EXPECT_TRUE(peer.local);
  EXPECT_EQ(peer.uid, ::getuid());
  EXPECT_EQ(peer.pid, ::getpid());
  EXPECT_FALSE(peer.encrypted);
}

TEST_F(ServerTest, ChunkedBodiesAreWholeAgain) {
  Listen();
  Answer(
      "PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_.front().body, "abcde");
}

TEST_F(ServerTest, EveryMethodIsARequest) {
  Listen();
  EXPECT_TRUE(Answer("FROB / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                  .ends_with("\r\n\r\nFROB /"));
  EXPECT_TRUE(Answer("OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                  .ends_with("\r\n\r\nOPTIONS *"));
  const std::string head = Answer("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(head.contains("Content-Length: 6\r\n")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInTheirOrder) {
  Listen();
  std::vector<std::pair<std::string, std::unique_ptr<HttpReply>>> waiting;
  on_request_ = [&](const HttpRequest& request, std::unique_ptr<HttpReply> reply) {
    // Every other one later.
    if (requests_.size() % 2 == 0) return reply->Send(200, {}, request.path);
    const std::shared_ptr<HttpReply> kept = std::move(reply);
    loop_.Post([kept, path = request.path] { kept->Send(200, {}, path); });
  };
  std::string requests;
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    const std::string path = fmt::format("/{}", i);
    requests += Get(path);
    expected +=
        fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: keep-alive\r\n\r\n{}",
                    path.size(), path);
  }
  auto peer = Connect();
  peer->Send(requests);
  RunUntil([&] { return peer->received().size() >= expected.size(); }, "all replies");
  EXPECT_TRUE(peer->received() == expected);
}

TEST_F(ServerTest, AReplyReachesAPeerThatHasClosedItsHalf) {
  Listen();
  auto peer = Connect();
  peer->Send(Get("/half"));
  peer->HalfClose();
  RunUntil([&] { return peer->ended(); }, "the server closes");
  EXPECT_TRUE(peer->received().ends_with("GET /half"));
}

TEST_F(ServerTest, ARequestThatNobodyAnswersIsAnError) {
  Listen();
  on_request_ = [](const HttpRequest&, std::unique_ptr<HttpReply>) {};
  EXPECT_EQ(StatusAfter(Get("/", "Connection: close\r\n")), 500);
}

TEST_F(ServerTest, WhatIsNotHttpIsRefused) {
  Listen();
  EXPECT_EQ(StatusAfter("garbage\r\n\r\n"), 400);
  EXPECT_EQ(StatusAfter(std::string(64, '\0')), 400);
  EXPECT_EQ(StatusAfter("GET / HTTP/9.9\r\n\r\n"), 505);
  EXPECT_EQ(StatusAfter("GET / HTTP/1.1\r\n\r\n"), 400) << "no host";
  EXPECT_EQ(StatusAfter("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400) << "two hosts";
  EXPECT_EQ(StatusAfter(Get("http://evil/")), 400);
  EXPECT_EQ(StatusAfter(Get("/%00")), 400);
  EXPECT_EQ(StatusAfter(Get("/", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(StatusAfter(Get("/", "Content-Length: nine\r\n")), 400);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(ServerTest, HeadsAndBodiesAreBounded) {
  Listen();
  EXPECT_EQ(StatusAfter(Get("/", fmt::format("X: {}\r\n", std::string(17 << 10, 'x')))), 431);
  EXPECT_EQ(StatusAfter(Get("/" + std::string(40 << 10, 'x'))), 431);
  const auto post = [](std::string_view more) {
    return fmt::format("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{}\r\n", more);
  };
  EXPECT_EQ(StatusAfter(post(fmt::format("Content-Length: {}\r\n", kMaxFrame + 1))), 413);
  std::string chunks = post("Transfer-Encoding: chunked\r\n");
  for (int i = 0; i < 11; ++i) chunks += "100000\r\n" + std::string(1 << 20, 'x') + "\r\n";
  EXPECT_EQ(StatusAfter(chunks), 413);
  EXPECT_TRUE(requests_.empty());
  EXPECT_EQ(StatusAfter(post(fmt::format("Content-Length: {}\r\n", kMaxFrame)) +
                        std::string(kMaxFrame, 'x')),
            200);
  EXPECT_EQ(requests_.front().body.size(), kMaxFrame);
}

TEST_F(ServerTest, AHeadMustComeInTime) {
  Listen(Limits{.head = milliseconds(30)});
  EXPECT_EQ(StatusAfter("GET / HTTP/1.1\r\nHost: loc"), 408);
}

TEST_F(ServerTest, ABodyMustComeInTime) {
  Listen(Limits{.body = milliseconds(30)});
  EXPECT_EQ(Answer("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"), "");
  EXPECT_TRUE(requests_.empty());
}

TEST_F(ServerTest, AnIdleConnectionIsClosed) {
  Listen(Limits{.silence = milliseconds(30)});
  EXPECT_EQ(StatusAfter(Get("/")), 200);
}

TEST_F(ServerTest, ABodyIsAskedForWhenThePeerWaitsForThat) {
  Listen();
  auto peer = Connect();
  peer->Send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  RunUntil([&] { return peer->Has("HTTP/1.1 100 Continue\r\n\r\n"); }, "the invitation");
  peer->Send("hi");
  RunUntil([&] { return peer->Has("POST /"); }, "the reply");
  EXPECT_EQ(requests_.front().body, "hi");
}

TEST_F(ServerTest, MoreConnectionsThanAllowedAreTurnedAway) {
  Listen(Limits{.connections = 2});
  auto first = Call(Local());
  auto second = Connect();
  second->Send(Get("/"));
  RunUntil([&] { return second->Has("GET /"); }, "the reply");
  EXPECT_EQ(StatusAfter(""), 503);
  first->channel.reset();
  RunUntil([&] { return talks_.front()->closed.has_value(); }, "the first one is gone");
  talks_.clear();
  int status = 503;
  for (int i = 0; i < 1000 && status == 503; ++i)
    status = StatusAfter(Get("/", "Connection: close\r\n"));
  EXPECT_EQ(status, 200) << "there is room again";
}

TEST_F(ServerTest, PeersThatNobodyLetInHaveFewPlacesAndTakeNoneFromTheUnixSocket) {
  Listen(Limits{.far_connections = 4, .unproven_connections = 2});
  on_request_ = [](const HttpRequest& request, std::unique_ptr<HttpReply> reply) {
    reply->Send(request.path == "/in" ? 200 : 401, {}, request.path);
  };
  std::vector<std::unique_ptr<RawPeer>> idle;
  for (int i = 0; i < 2; ++i) idle.push_back(ConnectTcp());
  auto third = ConnectTcp();
  RunUntil([&] { return third->status() == 503; }, "it is turned away");
  EXPECT_EQ(StatusAfter(Get("/in", "Connection: close\r\n")), 200) << "on the unix socket";
  // Who is let in makes room; who is refused is not heard again.
  idle[0]->Send(Get("/in"));
  RunUntil([&] { return idle[0]->status() == 200; }, "it is let in");
  idle[1]->Send(Get("/out"));
  RunUntil([&] { return idle[1]->status() == 401 && idle[1]->ended(); }, "it is sent away");
  auto fourth = ConnectTcp();
  fourth->Send(Get("/in"));
  RunUntil([&] { return fourth->status() == 200; }, "there is room again");
}

TEST_F(ServerTest, APeerThatNobodyLetsInHasItsOwnClock) {
  Listen(Limits{.unproven = std::chrono::milliseconds(30)});
  auto peer = ConnectTcp();
  auto local = Connect();
  RunUntil([&] { return peer->ended(); }, "its time is over");
  EXPECT_FALSE(local->ended());
}

TEST_F(ServerTest, NobodyWhoIsNotAdmittedIsHeard) {
  Listen();
  Code code = Code::kDenied;
  std::vector<std::string> asked;
  admit_ = [&](const HttpRequest& request) -> Status {
    asked.push_back(request.path);
    return Fail(code, "not you");
  };
  const std::string answer = Answer(Get("/", "Content-Length: 100\r\n"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
  EXPECT_TRUE(answer.ends_with("{\"code\":\"denied\",\"message\":\"not you\"}\n")) << answer;
  EXPECT_EQ(StatusAfter(kUpgrade), 403);
  EXPECT_EQ(TryDial(Local()).error().code, Code::kDenied);
  code = Code::kAuth;
  EXPECT_EQ(StatusAfter(Get("/")), 401);
  EXPECT_EQ(TryDial(Local()).error().code, Code::kAuth);
  code = Code::kInvalid;
  EXPECT_EQ(StatusAfter(Get("/")), 400);
  EXPECT_EQ(TryDial(Local()).error().code, Code::kUnavailable);
  EXPECT_EQ(asked, (std::vector<std::string>{"/", "/ws", "/ws", "/", "/ws", "/", "/ws"}));
  EXPECT_TRUE(requests_.empty());
  EXPECT_TRUE(talks_.empty());
}

TEST_F(ServerTest, AnUpgradeIsForOnePathOnly) {
  Listen();
  std::string elsewhere(kUpgrade);
  elsewhere.replace(elsewhere.find("/ws"), 3, "/x");
  EXPECT_EQ(StatusAfter(elsewhere), 404);
  EXPECT_EQ(StatusAfter(std::string(kUpgrade) + "too early"), 400);
  std::string old(kUpgrade);
  old.replace(old.find("Version: 13"), 11, "Version: 12");
  auto peer = Connect();
  peer->Send(old);
  RunUntil([&] { return peer->ended(); }, "the server closes");
  EXPECT_EQ(peer->status(), 426);
  EXPECT_TRUE(talks_.empty());
  EXPECT_EQ(StatusAfter(Get("/ws", "Connection: close\r\n")), 200) << "an ordinary request";
}

TEST_F(ServerTest, WhatStaysOnTheMachineIsNotCompressed) {
  std::string offer(kUpgrade);
  offer.insert(offer.size() - 2, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
  const auto accepts = [&](std::unique_ptr<RawPeer> peer) {
    peer->Send(offer);
    RunUntil([&] { return peer->Has("\r\n\r\n"); }, "the upgrade");
    EXPECT_EQ(peer->status(), 101);
    return peer->Has("permessage-deflate");
  };
  Listen();
  EXPECT_FALSE(accepts(Connect()));
  EXPECT_FALSE(accepts(ConnectTcp()));
  server_.reset();
  Listen(Limits{.compress_loopback = true});
  EXPECT_FALSE(accepts(Connect()));
  EXPECT_TRUE(accepts(ConnectTcp()));
}

TEST_F(ServerTest, AConnectionThatEndsDuringAReplyHurtsNobody) {
  Listen();
  on_request_ = [](const HttpRequest&, std::unique_ptr<HttpReply> reply) {
    reply->Send(200, {}, std::string(8 << 20, 'x'));
  };
  auto peer = ConnectTcp();
  peer->Send(Get("/"));
  RunUntil([&] { return peer->received().size() > 1000; }, "a part of it");
  peer.reset();
  auto other = Connect();
  other->Send(Get("/"));
  RunUntil([&] { return other->received().size() > (8 << 20); }, "another one's reply");
}

class HttpStreamTest : public ServerTest {
 protected:
  /// Answers with a stream, which the test gets as `stream_`.
  void SetUp() override {
    Listen();
    on_request_ = [this](const HttpRequest&, std::unique_ptr<HttpReply> reply) {
      stream_.channel = reply->Stream(200, {{"Content-Type", "text/event-stream"}});
      stream_.Start();
    };
  }

  Talk stream_;
};

TEST_F(HttpStreamTest, TextsAreSentAsTheyCome) {
  auto peer = Connect();
  peer->Send(Get("/"));
  RunUntil([&] { return peer->Has("\r\n\r\n"); }, "the head, before anything is said");
  EXPECT_EQ(peer->received(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  stream_.channel->Send("data: one\n\n");
  EXPECT_EQ(stream_.channel->queued(), 11U);
  RunUntil([&] { return peer->Has("b\r\ndata: one\n\n\r\n") && stream_.drained == 1; },
           "the first");
  EXPECT_EQ(stream_.channel->queued(), 0U);
  stream_.channel->Send("");
  stream_.channel->Send("two");
  stream_.channel->Close("done");
  RunUntil([&] { return peer->ended(); }, "the end");
  EXPECT_TRUE(peer->received().ends_with("data: one\n\n\r\n3\r\ntwo\r\n0\r\n\r\n"));
  peer.reset();
  RunUntil([&] { return stream_.closed.has_value(); }, "it is closed");
  EXPECT_EQ(*stream_.closed, Error(Code::kCancelled, "done"));
}

TEST_F(HttpStreamTest, AnOldPeerGetsNoChunks) {
  auto peer = Connect();
  peer->Send("GET / HTTP/1.0\r\n\r\n");
  RunUntil([&] { return stream_.channel != nullptr; }, "the request");
  stream_.channel->Send("one");
  stream_.channel->Send("two");
  stream_.channel->Close("");
  RunUntil([&] { return peer->ended(); }, "the end");
  EXPECT_TRUE(peer->received().ends_with("\r\n\r\nonetwo")) << peer->received();
}

TEST_F(HttpStreamTest, AHeadIsAllThatHeadGets) {
  auto peer = Connect();
  peer->Send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  RunUntil([&] { return stream_.channel != nullptr; }, "the request");
  stream_.channel->Send("one");
  stream_.channel->Close("");
  RunUntil([&] { return peer->ended(); }, "the end");
  EXPECT_TRUE(peer->received().ends_with("\r\n\r\n")) << peer->received();
}

TEST_F(HttpStreamTest, AClosingPeerIsNoticedWhileNothingIsSaid) {
  auto peer = ConnectTcp();
  peer->Send(Get("/") + "whatever else is said is passed over");
  RunUntil([&] { return peer->Has("\r\n\r\n"); }, "the head");
  EXPECT_FALSE(stream_.closed);
  peer.reset();
  RunUntil([&] { return stream_.closed.has_value(); }, "it is noticed");
  EXPECT_EQ(stream_.closed->code, Code::kUnavailable);
}

TEST_F(HttpStreamTest, APeerThatDoesNotReadLetsTheQueueGrow) {
  auto peer = Connect();
  peer->Send(Get("/"));
  RunUntil([&] { return peer->Has("\r\n\r\n"); }, "the head");
  peer->StopReading();
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 16; ++i) stream_.channel->Send(text);
  EXPECT_EQ(stream_.channel->queued(), 16U << 20);
  stream_.channel->Close("too slow");
  RunUntil([&] { return stream_.closed.has_value(); }, "the end after a second");
  EXPECT_EQ(stream_.closed->code, Code::kCancelled);
}

TEST_F(ServerTest, TheServerMayDieInsideARequestAndTheReplyLater) {
  Listen();
  std::unique_ptr<HttpReply> kept;
  on_request_ = [&](const HttpRequest&, std::unique_ptr<HttpReply> reply) {
    kept = std::move(reply);
    server_.reset();
  };
  auto peer = Connect();
  peer->Send(Get("/"));
  RunUntil([&] { return peer->ended(); }, "the connection is closed");
  EXPECT_EQ(peer->received(), "");
  Talk stream;
  stream.channel = kept->Stream(200, {});
  stream.Start();
  RunUntil([&] { return stream.closed.has_value(); }, "the stream has no connection");
}

TEST_F(ServerTest, TheServerMayDieInsideAdmit) {
  Listen();
  admit_ = [&](const HttpRequest&) {
    server_.reset();
    return Status();
  };
  EXPECT_EQ(Answer(kUpgrade), "");
}

TEST_F(ServerTest, ChannelsOutliveTheirServer) {
  Listen();
  auto client = Call(Local());
  RunUntil([&] { return !talks_.empty(); }, "the channel");
  client->Start();
  server_.reset();
  talks_.front()->channel->Send("still here");
  RunUntil([&] { return !client->frames.empty(); }, "arrival");
  EXPECT_EQ(TryDial(Local()).error().code, Code::kUnavailable);
}

TEST_F(ServerTest, ALoopMayDieUnderEverything) {
  auto loop = std::make_unique<Loop>();
  ServerEvents events{.admit = [](const HttpRequest&) { return Status(); },
                      .channel = [](std::unique_ptr<Channel>, const Peer&) {},
                      .request = [](const HttpRequest&, std::unique_ptr<HttpReply>) {}};
  auto server = ListenWith(*loop, {.unix_path = path_}, events, Limits());
  ASSERT_TRUE(server);
  auto channel = loop->RunUntilDone(Dial(*loop, Local(), CancelToken()));
  ASSERT_TRUE(channel);
  (*channel)->Start({});
  (*channel)->Send("never sent");
  channel->reset();
  server->reset();
  loop.reset();  // With what was under way.
}

}  // namespace
}  // namespace stet::rpc
