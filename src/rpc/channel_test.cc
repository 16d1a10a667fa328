#include "rpc/channel.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/random.h"
#include "rpc/certificate.h"
#include "rpc/rpc_fixture.h"

namespace stet::rpc {
namespace {

using std::chrono::milliseconds;

enum class Carrier { kUnix, kTcp, kCompressed, kTls };

/// A client and a server that are connected; both have started.
class ChannelTest : public RpcTest, public testing::WithParamInterface<Carrier> {
 protected:
  void SetUp() override { Open(Limits()); }

  void Open(Limits limits) {
    server_.reset();
    limits.compress_loopback = GetParam() == Carrier::kCompressed;
    if (GetParam() != Carrier::kTls) return Listen(limits);
    const TlsFiles files{.certificate = dir_.Sub("cert.pem"), .key = dir_.Sub("key.pem")};
    auto made = GenerateCertificate(files, {}, SystemClock().Now());
    ASSERT_TRUE(made) << made.error().Text();
    fingerprint_ = *made;
    Listen(limits, files);
  }

  [[nodiscard]] Endpoint Where() const {
    if (GetParam() == Carrier::kUnix) return Local();
    Endpoint endpoint = Tcp();
    endpoint.tls = GetParam() == Carrier::kTls;
    endpoint.fingerprint = fingerprint_;
    return endpoint;
  }

  void Meet() {
    client_ = Call(Where());
    ASSERT_TRUE(client_->channel);
    RunUntil([&] { return !talks_.empty(); }, "the server has the channel");
    client_->Start();
  }
  Talk& server_side() { return *talks_.front(); }

  std::string fingerprint_;
  std::unique_ptr<Talk> client_;
};

std::string CarrierName(const testing::TestParamInfo<Carrier>& test) {
  switch (test.param) {
    case Carrier::kUnix: return "Unix";
    case Carrier::kTcp: return "Tcp";
    case Carrier::kCompressed: return "Compressed";
    default: return "Tls";
  }
}

INSTANTIATE_TEST_SUITE_P(, ChannelTest,
                         testing::Values(Carrier::kUnix, Carrier::kTcp, Carrier::kCompressed,
                                         Carrier::kTls),
                         CarrierName);

/// Text that does not become much smaller.
std::string Noise(std::size_t size) {
  Random random(size);
  std::string text;
  while (text.size() < size) text += RandomName(random, 64);
  text.resize(size);
  return text;
}

TEST_P(ChannelTest, AThousandMessagesGoBothWaysInOrder) {
  Meet();
  std::vector<std::string> sent;
  for (int i = 0; i < 1000; ++i) {
    sent.push_back(fmt::format("{} {}", i, std::string(static_cast<std::size_t>(i), 'x')));
    client_->channel->Send(sent.back());
    server_side().channel->Send(sent.back());
  }
  RunUntil([&] { return client_->frames.size() == 1000 && server_side().frames.size() == 1000; },
           "all arrive");
  EXPECT_EQ(client_->frames, sent);
  EXPECT_EQ(server_side().frames, sent);
}

TEST_P(ChannelTest, ALargeMessageArrivesWholeBothWays) {
  Meet();
  const std::vector<std::string> noise = {Noise(9 << 20)};
  const std::vector<std::string> even = {std::string(9 << 20, 'x')};
  client_->channel->Send(even.front());
  server_side().channel->Send(noise.front());
  RunUntil([&] { return !client_->frames.empty() && !server_side().frames.empty(); }, "arrival");
  EXPECT_TRUE(client_->frames == noise);
  EXPECT_TRUE(server_side().frames == even);
}

TEST_P(ChannelTest, AMessageOfTheGreatestLengthArrivesAndOneMoreByteEndsTheChannel) {
  Meet();
  client_->channel->Send(std::string(kMaxFrame, 'x'));
  RunUntil([&] { return !server_side().frames.empty(); }, "arrival");
  ASSERT_EQ(server_side().frames.size(), 1U);
  EXPECT_EQ(server_side().frames.front().size(), kMaxFrame);
  client_->channel->Send(std::string(kMaxFrame + 1, 'x'));
  RunUntil([&] { return server_side().closed && client_->closed; }, "the end");
  EXPECT_EQ(server_side().closed->code, Code::kInvalid);
  EXPECT_EQ(server_side().frames.size(), 1U);
}

TEST_P(ChannelTest, AnEmptyMessageIsAMessage) {
  Meet();
  client_->channel->Send("");
  client_->channel->Send("\xF0\x9F\x98\x80");
  RunUntil([&] { return server_side().frames.size() == 2; }, "arrival");
  EXPECT_EQ(server_side().frames, (std::vector<std::string>{"", "\xF0\x9F\x98\x80"}));
}

TEST_P(ChannelTest, ClosingSendsWhatIsQueuedAndThenTheReason) {
  Meet();
  server_side().channel->Send(Noise(64 << 10));
  server_side().channel->Send("last");
  server_side().channel->Close("too slow");
  server_side().channel->Send("not any more");
  RunUntil([&] { return server_side().closed && client_->closed; }, "both ends");
  ASSERT_EQ(client_->frames.size(), 2U);
  EXPECT_EQ(client_->frames.back(), "last");
  EXPECT_EQ(*client_->closed, Error(Code::kUnavailable, "too slow"));
  EXPECT_EQ(*server_side().closed, Error(Code::kCancelled, "too slow"));
  EXPECT_EQ(server_side().channel->queued(), 0U);
}

TEST_P(ChannelTest, ALongReasonIsCutBetweenCharacters) {
  Meet();
  std::string reason;
  for (int i = 0; i < 100; ++i) reason += "\xC3\xA9";
  client_->channel->Close(reason);
  RunUntil([&] { return server_side().closed.has_value(); }, "the end");
  EXPECT_EQ(server_side().closed->message, reason.substr(0, 122));
}

TEST_P(ChannelTest, BothMayCloseAtOnce) {
  Meet();
  client_->channel->Close("a");
  server_side().channel->Close("b");
  RunUntil([&] { return server_side().closed && client_->closed; }, "both ends");
  EXPECT_EQ(client_->closed->code, Code::kCancelled);
  EXPECT_EQ(server_side().closed->code, Code::kCancelled);
}

TEST_P(ChannelTest, WhatASlowReaderLeavesIsCountedAndDrainsLater) {
  on_channel_ = [](Talk& talk) { talk.Start(); };
  client_ = Call(Where());
  RunUntil([&] { return !talks_.empty(); }, "the server has the channel");
  const std::string frame = Noise(64 << 10);
  for (int i = 0; i < 256; ++i) server_side().channel->Send(frame);
  EXPECT_EQ(server_side().channel->queued(), 256U * frame.size());
  RunUntil([&] { return server_side().channel->queued() < 255 * frame.size(); }, "the first ones");
  EXPECT_GT(server_side().channel->queued(), std::size_t{4} << 20);
  EXPECT_EQ(server_side().drained, 0);
  client_->Start();
  RunUntil([&] { return client_->frames.size() == 256 && server_side().drained == 1; }, "all");
  EXPECT_EQ(server_side().channel->queued(), 0U);
}

TEST_P(ChannelTest, ClosingTowardsAPeerThatDoesNotReadEndsSoon) {
  client_ = Call(Where());
  RunUntil([&] { return !talks_.empty(); }, "the server has the channel");
  for (int i = 0; i < 16; ++i) server_side().channel->Send(Noise(1 << 20));
  server_side().channel->Close("enough");
  RunUntil([&] { return server_side().closed.has_value(); }, "the end");
  EXPECT_EQ(*server_side().closed, Error(Code::kCancelled, "enough"));
}

TEST_P(ChannelTest, DestroyingOneEndDuringAWriteEndsTheOther) {
  Meet();
  for (int i = 0; i < 8; ++i) client_->channel->Send(Noise(1 << 20));
  RunUntil([&] { return !server_side().frames.empty(); }, "some of it arrives");
  client_->channel.reset();
  RunUntil([&] { return server_side().closed.has_value(); }, "the end");
  EXPECT_EQ(server_side().closed->code, Code::kUnavailable);
  EXPECT_FALSE(client_->closed) << "a channel that is destroyed does not call";
}

TEST_P(ChannelTest, AChannelMayBeDestroyedInEachOfItsCallbacks) {
  Meet();
  auto second = Call(Where());
  auto third = Call(Where());
  int calls = 0;
  second->channel->Start({.frame = [&](std::string_view) {
    ++calls;
    second->channel.reset();
  }});
  third->channel->Start({.drained = [&] {
    ++calls;
    third->channel.reset();
  }});
  auto fourth = Call(Where());
  fourth->channel->Start({.closed = [&](const Error&) {
    ++calls;
    fourth->channel.reset();
  }});
  RunUntil([&] { return talks_.size() == 4; }, "the server has the channels");
  talks_[1]->channel->Send("one");
  talks_[1]->channel->Send("two");
  third->channel->Send("out");
  talks_[3]->channel->Close("bye");
  RunUntil([&] { return talks_[1]->closed && talks_[2]->closed && talks_[3]->closed; }, "ends");
  EXPECT_EQ(calls, 3);
}

TEST_P(ChannelTest, SendingInsideDrainedGoesOn) {
  Meet();
  int left = 100;
  auto second = Call(Where());
  RunUntil([&] { return talks_.size() == 2; }, "the server has the channel");
  second->channel->Start({.drained = [&] {
    if (--left > 0) second->channel->Send("more");
  }});
  second->channel->Send("more");
  RunUntil([&] { return talks_[1]->frames.size() == 100; }, "all arrive");
  RunUntil([&] { return left == 0; }, "the last one is drained");
}

TEST_P(ChannelTest, AChannelThatHasEndedBeforeItsStartSaysSo) {
  on_channel_ = [](Talk& talk) {
    talk.channel->Send("before the start");
    talk.channel->Close("not wanted");
  };
  client_ = Call(Where());
  client_->Start();
  RunUntil([&] { return client_->closed.has_value(); }, "the client hears it");
  EXPECT_EQ(client_->frames, std::vector<std::string>{"before the start"});
  bool inside = true;
  server_side().channel->Start({.closed = [&](const Error& why) {
    EXPECT_FALSE(inside) << "not from inside of Start";
    server_side().closed = why;
  }});
  inside = false;
  RunUntil([&] { return server_side().closed.has_value(); }, "the server hears it");
  EXPECT_EQ(server_side().closed->code, Code::kCancelled);
}

TEST_P(ChannelTest, TwoHundredConnectionsAtOnce) {
  constexpr int kMany = 200;
  Open(Limits{.unproven_connections = kMany});
  std::vector<std::unique_ptr<Talk>> clients;
  int failed = 0;
  const auto dial = [&](Talk& talk) -> Async<void> {
    auto channel = co_await Dial(loop_, Where(), CancelToken());
    if (!channel) {
      ++failed;
      co_return;
    }
    talk.channel = *std::move(channel);
    talk.Start();
    talk.channel->Send("hello");
  };
  on_channel_ = [](Talk& talk) {
    talk.Start();
    talk.channel->Send("welcome");
  };
  for (int i = 0; i < kMany; ++i) {
    clients.push_back(std::make_unique<Talk>());
    loop_.Spawn(dial(*clients.back()));
  }
  const auto all_said = [](const auto& talks) {
    return std::ranges::all_of(talks, [](const auto& talk) { return talk->frames.size() == 1; });
  };
  RunUntil([&] { return talks_.size() == kMany && all_said(talks_) && all_said(clients); },
           "everybody said something");
  EXPECT_EQ(failed, 0);
}

TEST_P(ChannelTest, APeerThatAnswersNoPingIsGone) {
  Open(Limits{.silence = milliseconds(60)});
  client_ = Call(Where());  // It does not read, so it does not answer.
  RunUntil([&] { return !talks_.empty() && server_side().closed; }, "the end");
  EXPECT_EQ(server_side().closed->code, Code::kTimeout);
}

/// Frames as no client of ours makes them.
class WebSocketRulesTest : public RpcTest {
 protected:
  void SetUp() override { Listen(); }

  /// Why the server ended the channel after these bytes.
  Error AfterBytes(std::string_view bytes) {
    auto peer = Upgraded();
    peer->Send(bytes);
    RunUntil([&] { return talks_.back()->closed || peer->ended(); }, "the end");
    peer->HalfClose();
    RunUntil([&] { return talks_.back()->closed.has_value(); }, "the end");
    return *talks_.back()->closed;
  }

  /// Masked with zeros.
  static std::string Frame(std::uint8_t first, std::string_view payload) {
    std::string frame = {static_cast<char>(first), static_cast<char>(0x80 | payload.size())};
    return frame + std::string(4, '\0') + std::string(payload);
  }
};

TEST_F(WebSocketRulesTest, TextsComeInFragmentsWithPingsBetween) {
  auto peer = Upgraded();
  peer->Send(Frame(0x01, "one ") + Frame(0x89, "ping") + Frame(0x00, "and ") + Frame(0x80, "two"));
  RunUntil([&] { return !talks_.back()->frames.empty() && peer->Has("\x8A\x04ping"); }, "both");
  EXPECT_EQ(talks_.back()->frames, std::vector<std::string>{"one and two"});
}

TEST_F(WebSocketRulesTest, WhatBreaksThemEndsTheChannel) {
  EXPECT_EQ(AfterBytes(Frame(0x82, "binary")).code, Code::kInvalid);
  EXPECT_EQ(AfterBytes(Frame(0x81, "\xC3\x28")).code, Code::kInvalid) << "not UTF-8";
  EXPECT_EQ(AfterBytes(Frame(0x81, "\xE2\x82")).code, Code::kInvalid) << "a character cut off";
  EXPECT_EQ(AfterBytes(Frame(0x01, "\xE2\x82") + Frame(0x80, "")).code, Code::kInvalid)
      << "the same, before an empty last part";
  EXPECT_EQ(AfterBytes(std::string("\x81\x02hi", 4)).code, Code::kInvalid) << "not masked";
  EXPECT_EQ(AfterBytes(Frame(0x80, "nothing to continue")).code, Code::kInvalid);
  EXPECT_EQ(AfterBytes(Frame(0x01, "a") + Frame(0x81, "b")).code, Code::kInvalid);
  EXPECT_EQ(AfterBytes(Frame(0xC1, "compressed")).code, Code::kInvalid) << "was not agreed on";
  EXPECT_EQ(AfterBytes(Frame(0x83, "reserved")).code, Code::kInvalid);
  EXPECT_EQ(AfterBytes(Frame(0x09, "a ping in pieces")).code, Code::kInvalid);
  EXPECT_EQ(AfterBytes(Frame(0x88, "x")).code, Code::kInvalid) << "half a close code";
  EXPECT_EQ(AfterBytes("\x81\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                       "mask")
                .code,
            Code::kInvalid);
}

TEST_F(WebSocketRulesTest, AClosingWithoutAWordIsUnderstood) {
  EXPECT_EQ(AfterBytes(Frame(0x88, "")),
            Error(Code::kUnavailable, "the other side closed the connection"));
  EXPECT_EQ(AfterBytes(Frame(0x88, std::string("\x03\xE8"
                                               "bye"))),
            Error(Code::kUnavailable, "bye"));
}

TEST_F(WebSocketRulesTest, APeerThatAnswersPingsIsNotSilent) {
  server_.reset();
  Listen(Limits{.silence = milliseconds(200)});
  auto peer = Upgraded();
  std::size_t answered = 0;
  RunUntil(
      [&] {
        const auto pings = static_cast<std::size_t>(std::ranges::count(peer->received(), '\x89'));
        for (; answered < pings; ++answered) peer->Send(Frame(0x8A, ""));
        return answered == 6 || talks_.back()->closed;
      },
      "six pings");
  EXPECT_FALSE(talks_.back()->closed);
  RunUntil([&] { return talks_.back()->closed.has_value(); }, "the end without answers");
  EXPECT_EQ(talks_.back()->closed->code, Code::kTimeout);
}

TEST_F(WebSocketRulesTest, ABinaryMessageIsToldWhy) {
  auto peer = Upgraded();
  peer->Send(Frame(0x82, "binary"));
  RunUntil([&] { return peer->Has("the message is not text"); }, "the reason");
}

}  // namespace
}  // namespace stet::rpc
