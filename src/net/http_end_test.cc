// How an exchange ends other than by its reply: clocks, a sink that has enough, cancelling.
#include "base/clock.h"
#include "net/http_fixture.h"

namespace stet::net {
namespace {

constexpr milliseconds kLong{60'000};

/// Sends these bytes and then nothing, until the client is gone.
RawServer::Handler Stalling(std::string bytes) {
  return [bytes = std::move(bytes)](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(bytes));
    peer.AwaitClose();
  };
}

class HttpEndTest : public HttpTest {
 protected:
  /// Clocks that do not run out in a test, but for those it sets.
  HttpEndTest() {
    request_.clocks = {
        .connect = kLong, .first_byte = kLong, .idle_warn = kLong, .idle_fail = kLong, .whole = {}};
  }
};

TEST_F(HttpEndTest, AServerThatDoesNotAnswerRunsOutOfTheFirstClock) {
  request_.clocks.first_byte = milliseconds(30);
  for (const char* bytes :
       {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"}) {
    const RawServer server(Stalling(bytes));
    const HttpEnd end = Get(server.Url());
    EXPECT_EQ(end.trouble, HttpTrouble::kTimeout) << bytes;
    EXPECT_EQ(end.message, "the server sent nothing for 30 ms");
    EXPECT_TRUE(sink_.stalls.empty());
  }
}

TEST_F(HttpEndTest, AHandshakeThatDoesNotComeRunsOutOfTheConnectClock) {
  const RawServer server([](Peer& peer) { peer.AwaitClose(); });
  request_.clocks.connect = milliseconds(30);
  const HttpEnd end = Get(server.Url("https"));
  EXPECT_EQ(end.trouble, HttpTrouble::kTimeout) << end.message;
  EXPECT_EQ(end.status, 0);
}

TEST_F(HttpEndTest, ASilenceInsideTheBodyIsToldOnceAndThenGivenUp) {
  const RawServer server(Stalling(std::string(kChunkedHead) + Chunk("some")));
  request_.clocks.idle_warn = milliseconds(20);
  request_.clocks.idle_fail = milliseconds(120);
  const auto start = SystemClock().Steady();
  const HttpEnd end = Get(server.Url());
  EXPECT_GE(SystemClock().Steady() - start, milliseconds(120));
  EXPECT_EQ(end.trouble, HttpTrouble::kTimeout);
  EXPECT_EQ(end.message, "the server fell silent for 120 ms");
  EXPECT_EQ(end.status, 200);
  EXPECT_EQ(sink_.body, "some");
  ASSERT_EQ(sink_.stalls.size(), 1U);
  const auto [idle, left] = sink_.stalls[0];
  EXPECT_GE(idle, milliseconds(20));
  EXPECT_EQ(idle + left, milliseconds(120));
}

TEST_F(HttpEndTest, EverySilenceIsToldInItsTime) {
  constexpr int kSilences = 3;
  std::array<Signal, kSilences> told;
  const RawServer server([&](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(std::string(kChunkedHead) + Chunk("a")));
    for (Signal& one : told) {
      if (!one.Await()) return;
      EXPECT_TRUE(peer.Write(Chunk("a")));
    }
    EXPECT_TRUE(peer.Write(kLastChunk));
  });
  request_.clocks.idle_warn = milliseconds(20);
  sink_.stalled = [&] {
    if (sink_.stalls.size() <= kSilences) told[sink_.stalls.size() - 1].Give();
  };
  EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
  EXPECT_EQ(sink_.body, "aaaa");
  EXPECT_GE(sink_.stalls.size(), std::size_t{kSilences});
}

TEST_F(HttpEndTest, AReplyThatGoesOnForeverRunsOutOfTheClockOfTheWhole) {
  const RawServer server([](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(kChunkedHead));
    while (peer.Write(Chunk("more"))) {
    }
  });
  request_.clocks.whole = milliseconds(50);
  const HttpEnd end = Get(server.Url());
  EXPECT_EQ(end.trouble, HttpTrouble::kTimeout);
  EXPECT_EQ(end.message, "the reply was not complete after 50 ms");
  EXPECT_TRUE(sink_.body.starts_with("moremore"));
}

TEST_F(HttpEndTest, ASinkThatHasEnoughLeavesAConnectionThatCanBeUsedAgain) {
  const RawServer server([](Peer& peer) {
    while (!peer.ReadRequest().empty())
      EXPECT_TRUE(peer.Write(std::string(kChunkedHead) + Chunk("end") + Chunk("tail") +
                             std::string(kLastChunk)));
  });
  sink_.want = [](const std::string&) { return Want::kNoMore; };
  for (int i = 0; i < 3; ++i) {
    sink_.body.clear();
    const HttpEnd end = Get(server.Url());
    EXPECT_EQ(end.trouble, HttpTrouble::kNone);
    EXPECT_EQ(end.status, 200);
    EXPECT_TRUE(sink_.body.starts_with("end"));
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpEndTest, ASinkThatHasEnoughWaitsAMomentOnlyForTheEnd) {
  const RawServer server(Stalling(std::string(kChunkedHead) + Chunk("end")));
  sink_.want = [](const std::string&) { return Want::kNoMore; };
  const HttpEnd end = Get(server.Url());
  EXPECT_EQ(end.trouble, HttpTrouble::kNone) << end.message;
  EXPECT_EQ(sink_.body, "end");
  EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
  EXPECT_EQ(server.connections(), 2) << "an unfinished reply is not read by the next request";
}

TEST_F(HttpEndTest, ASinkThatHasEnoughDoesNotMindABreak) {
  const RawServer server([](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(std::string(kChunkedHead) + Chunk("end")));
  });
  sink_.want = [](const std::string&) { return Want::kNoMore; };
  EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
}

TEST_F(HttpEndTest, ASinkThatWantsToStopIsAskedNoMore) {
  Signal gone;
  const RawServer server([&](Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write(std::string(kChunkedHead) + Chunk("bad")));
    peer.AwaitClose();
    gone.Give();
  });
  sink_.want = [](const std::string&) { return Want::kStop; };
  const HttpEnd end = Get(server.Url());
  EXPECT_EQ(end.trouble, HttpTrouble::kStopped);
  EXPECT_EQ(end.status, 200);
  EXPECT_EQ(sink_.body, "bad");
  EXPECT_TRUE(gone.Await());
}

TEST_F(HttpEndTest, CancelledBeforeItsStartNothingIsSent) {
  RawServer server([](Peer& peer) { peer.AwaitClose(); });
  CancelSource source;
  source.Cancel();
  EXPECT_EQ(Get(server.Url(), source.token()).trouble, HttpTrouble::kCancelled);
  server.Stop();
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpEndTest, CancelledWhileConnectingItEnds) {
  CancelSource source;
  const RawServer server([&](Peer& peer) {
    source.Cancel();
    peer.AwaitClose();
  });
  const HttpEnd end = Get(server.Url("https"), source.token());
  EXPECT_EQ(end.trouble, HttpTrouble::kCancelled);
  EXPECT_EQ(end.status, 0);
}

TEST_F(HttpEndTest, CancelledWhileWaitingForTheReplyItEnds) {
  CancelSource source;
  Signal gone;
  const RawServer server([&](Peer& peer) {
    peer.ReadRequest();
    source.Cancel();
    peer.AwaitClose();
    gone.Give();
  });
  EXPECT_EQ(Get(server.Url(), source.token()).trouble, HttpTrouble::kCancelled);
  EXPECT_TRUE(gone.Await());
}

TEST_F(HttpEndTest, CancelledInsideTheBodyItEndsAndTheNextRequestIsNotDisturbed) {
  CancelSource source;
  Signal heard;
  const RawServer server([&](Peer& peer) {
    if (peer.ReadRequest().find("/stall") == std::string::npos) {
      EXPECT_TRUE(peer.Write(ReplyWith("fine")));
      return;
    }
    EXPECT_TRUE(peer.Write(std::string(kChunkedHead) + Chunk("some")));
    if (heard.Await()) source.Cancel();
    peer.AwaitClose();
  });
  sink_.want = [&](const std::string&) {
    heard.Give();
    return Want::kMore;
  };
  EXPECT_EQ(Get(server.Url() + "/stall", source.token()).trouble, HttpTrouble::kCancelled);
  EXPECT_EQ(sink_.body, "some");
  EXPECT_EQ(Get(server.Url()).trouble, HttpTrouble::kNone);
  EXPECT_EQ(sink_.body, "somefine");
}

/// Owns its client, as what is destroyed in the middle does.
Async<void> SendAlone(Loop& loop, const HttpRequest& request, HttpSink& sink, bool& ended) {
  HttpClient client(loop);
  co_await client.Send(request, sink, {});
  ended = true;
}

TEST_F(HttpEndTest, ATaskThatIsDestroyedInTheMiddleClosesItsConnection) {
  for (const std::string& bytes : {std::string(), std::string(kChunkedHead) + Chunk("some")}) {
    auto loop = std::make_unique<Loop>();
    Signal stopped;
    Signal gone;
    const RawServer server([&](Peer& peer) {
      peer.ReadRequest();
      EXPECT_TRUE(peer.Write(bytes));
      loop->Stop();
      stopped.Give();
      peer.AwaitClose();
      gone.Give();
    });
    request_.url = server.Url();
    bool ended = false;
    loop->Spawn(SendAlone(*loop, request_, sink_, ended));
    loop->Run();
    EXPECT_TRUE(stopped.Await()) << "Stop has returned";
    loop.reset();
    EXPECT_TRUE(gone.Await());
    EXPECT_FALSE(ended);
  }
}

TEST_F(HttpEndTest, AnExchangeThatStandsStillHoldsUpNoOther) {
  const RawServer stalling(Stalling(std::string(kChunkedHead) + Chunk("some")));
  const RawServer quick([](Peer& peer) {
    while (!peer.ReadRequest().empty()) EXPECT_TRUE(peer.Write(ReplyWith("ok")));
  });
  HttpRequest stalled = request_;
  stalled.url = stalling.Url();
  KeepingSink stalled_sink;
  CancelSource source;
  const Pending<HttpTrouble> ended(loop_);
  auto send = [](HttpClient& http, const HttpRequest& request, HttpSink& sink, CancelToken cancel,
                 Pending<HttpTrouble> done) -> Async<void> {
    const HttpEnd end = co_await http.Send(request, sink, cancel);
    done.Set(end.trouble);
  };
  loop_.Spawn(send(http_, stalled, stalled_sink, source.token(), ended));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(quick.Url()).trouble, HttpTrouble::kNone);
  EXPECT_FALSE(ended.is_set());
  source.Cancel();
  auto wait = [](Pending<HttpTrouble> done) -> Async<HttpTrouble> { co_return co_await done; };
  EXPECT_EQ(loop_.RunUntilDone(wait(ended)), HttpTrouble::kCancelled);
}

}  // namespace
}  // namespace stet::net
