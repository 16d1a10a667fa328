#include "rpc/dial.h"

#include "rpc/rpc_fixture.h"

namespace stet::rpc {
namespace {

using std::chrono::milliseconds;

/// A server that is no server of ours: it says the same bytes to every client.
class DialTest : public RpcTest {
 protected:
  void SetUp() override {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    ASSERT_EQ(::listen(listener_.get(), 8), 0);
    watch_ = std::make_unique<FdWatch>(loop_, listener_.get(), [this](bool, bool) {
      accepted_.push_back(std::make_unique<RawPeer>(
          loop_, Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC))));
      accepted_.back()->Send(says_);
      if (hangs_up_) accepted_.back()->HalfClose();
    });
    watch_->Want(true, false);
  }

  Error WhenItSays(std::string says) {
    says_ = std::move(says);
    const auto channel = TryDial(Local());
    EXPECT_FALSE(channel);
    return channel ? Error(Code::kIo, "") : channel.error();
  }

  Fd listener_;
  std::string says_;
  bool hangs_up_ = true;
  std::vector<std::unique_ptr<RawPeer>> accepted_;
  std::unique_ptr<FdWatch> watch_;
};

TEST_F(DialTest, RefusalsHaveTheirCode) {
  const auto reply = [](std::string_view status) {
    return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 2\r\n\r\nno";
  };
  EXPECT_EQ(WhenItSays(reply("401 Unauthorized")).code, Code::kAuth);
  EXPECT_EQ(WhenItSays(reply("403 Forbidden")).code, Code::kDenied);
  EXPECT_EQ(WhenItSays(reply("503 Service Unavailable")).code, Code::kUnavailable);
  EXPECT_EQ(WhenItSays(reply("200 OK")).code, Code::kUnavailable);
}

TEST_F(DialTest, WhatIsNoHandshakeIsRefused) {
  EXPECT_EQ(WhenItSays("").code, Code::kUnavailable);
  EXPECT_EQ(WhenItSays("SSH-2.0-x\r\n\r\n").code, Code::kInvalid);
  EXPECT_EQ(WhenItSays("HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                       "Sec-WebSocket-Accept: wrong\r\n\r\n")
                .code,
            Code::kInvalid);
  EXPECT_EQ(WhenItSays("HTTP/1.1 200 OK\r\nX: " + std::string(1 << 20, 'x')).code, Code::kInvalid);
}

TEST_F(DialTest, AServerThatSaysNothingIsNotWaitedForLong) {
  hangs_up_ = false;
  const auto channel = TryDial(Local(), Limits{.dial = milliseconds(30)});
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, Code::kTimeout);
  RunUntil([&] { return accepted_.front()->ended(); }, "the connection is given up");
}

TEST_F(DialTest, CancellingEndsIt) {
  hangs_up_ = false;
  CancelSource source;
  Timer timer(loop_);
  timer.Start(milliseconds(10), [&] { source.Cancel(); });
  const auto channel = loop_.RunUntilDone(Dial(loop_, Local(), source.token()));
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, Code::kCancelled);
  RunUntil([&] { return accepted_.empty() || accepted_.front()->ended(); }, "given up");
}

TEST_F(DialTest, ATaskThatDialsMayBeDestroyed) {
  hangs_up_ = false;
  {
    auto other = std::make_unique<Loop>();
    const auto dial = [](Loop& loop, Endpoint endpoint) -> Async<void> {
      (void)co_await Dial(loop, std::move(endpoint), CancelToken());
    };
    other->Spawn(dial(*other, Local()));
    other->Post([&] { other->Post([&] { other->Stop(); }); });
    other->Run();
  }
  RunUntil([&] { return accepted_.empty() || accepted_.front()->ended(); }, "given up");
}

TEST_F(DialTest, NobodyThere) {
  EXPECT_EQ(TryDial({.unix_path = dir_.Sub("none")}).error().code, Code::kUnavailable);
  EXPECT_EQ(TryDial({.unix_path = dir_.Sub(std::string(200, 'x'))}).error().code, Code::kInvalid);
  EXPECT_EQ(TryDial({.host = "127.0.0.1", .port = 1}).error().code, Code::kUnavailable);
}

TEST_F(RpcTest, AHostIsFoundByItsName) {
  Listen();
  EXPECT_TRUE(TryDial({.host = "localhost", .port = port()}));
}

}  // namespace
}  // namespace stet::rpc
