#include "client/connection.h"

#include <gtest/gtest.h>

#include "client/fake_host_fixture.h"

namespace stet::client {
namespace {

using std::chrono::milliseconds;

constexpr Backoff kAtOnce{.first = milliseconds(0), .most = milliseconds(0)};

class ConnectionTest : public testing::Test {
 protected:
  void Connect(std::string token = "") {
    ConnectionOptions options;
    options.dial = host_.MakeDialer();
    options.token = std::move(token);
    options.name = "test";
    options.backoff = kAtOnce;
    options.on_state = [this](LinkState state, const std::string& why) {
      states_.push_back(state);
      why_ = why;
    };
    options.check_every = check_every_;
    options.on_silence = [this](const auto& since) { silences_.push_back(since.has_value()); };
    connection_ = std::make_unique<Connection>(loop_, random_, std::move(options));
    Settle(loop_);
  }

  void Ask(std::string method, bool repeatable, milliseconds within = milliseconds(60'000)) {
    const std::size_t index = answers_.size();
    answers_.emplace_back();
    connection_->Ask({.method = std::move(method), .repeatable = repeatable, .within = within},
                     [this, index](Result<Raw> answer) {
                       EXPECT_FALSE(answers_[index]) << "answered twice";
                       answers_[index] = std::move(answer);
                     });
    Settle(loop_);
  }

  Loop loop_;
  Random random_{7};
  FakeHost host_;
  std::vector<LinkState> states_;
  std::string why_;
  milliseconds check_every_{60'000};
  std::vector<bool> silences_;  // As they were told.
  std::vector<std::optional<Result<Raw>>> answers_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(ConnectionTest, SaysHelloAndAnswersComeBack) {
  Connect();
  ASSERT_EQ(host_.hellos.size(), 1u);
  EXPECT_EQ(host_.hellos[0].version, protocol::kWireVersion);
  EXPECT_EQ(host_.hellos[0].name, "test");
  EXPECT_FALSE(host_.hellos[0].token);
  Ask("host.status", true);
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ((*answers_[0])->text, "{}");
  EXPECT_EQ(states_, std::vector{LinkState::kConnected});
}

TEST_F(ConnectionTest, AnswersInAnyOrderReachWhoAsked) {
  Connect();
  host_.hold_replies = true;
  host_.other = [](const std::string& method, const std::string&) -> FakeHost::Reply {
    return "{\"was\":\"" + method + "\"}";
  };
  Ask("a", true);
  Ask("b", true);
  ASSERT_EQ(host_.held.size(), 2u);
  host_.Release(1);
  host_.Release(0);
  Settle(loop_);
  EXPECT_EQ((*answers_[0])->text, R"({"was":"a"})");
  EXPECT_EQ((*answers_[1])->text, R"({"was":"b"})");
}

TEST_F(ConnectionTest, TheClientIdStaysOverReconnects) {
  Connect();
  host_.Cut();
  Settle(loop_);
  host_.Cut();
  Settle(loop_);
  ASSERT_EQ(host_.hellos.size(), 3u);
  EXPECT_EQ(host_.hellos[1].client_id, host_.hellos[0].client_id);
  EXPECT_EQ(host_.hellos[2].client_id, host_.hellos[0].client_id);
  EXPECT_EQ(states_,
            (std::vector{LinkState::kConnected, LinkState::kReconnecting, LinkState::kConnected,
                         LinkState::kReconnecting, LinkState::kConnected}));
}

TEST_F(ConnectionTest, WhatMayBeRepeatedIsAskedAgainAfterAReconnect) {
  Connect();
  host_.hold_replies = true;
  Ask("host.status", true);
  host_.Cut();
  host_.hold_replies = false;
  Settle(loop_);
  ASSERT_TRUE(answers_[0]);
  EXPECT_TRUE(answers_[0]->has_value());
  EXPECT_EQ(host_.requests.size(), 2u);
}

TEST_F(ConnectionTest, WhatMayNotBeRepeatedSaysThatItMayHaveBeenDone) {
  Connect();
  host_.hold_replies = true;
  Ask("session.rewind", false);
  host_.Cut();
  Settle(loop_);
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kUnavailable);
  EXPECT_TRUE(answers_[0]->error().message.contains("may or may not have been done"));
  EXPECT_EQ(host_.requests.size(), 1u);
}

TEST_F(ConnectionTest, WhatWasNeverSentIsSentOnceTheHostIsThere) {
  host_.unreachable = true;
  Connect();
  Ask("host.status", false);
  EXPECT_FALSE(answers_[0]);
  host_.unreachable = false;
  Settle(loop_);
  ASSERT_TRUE(answers_[0]);
  EXPECT_TRUE(answers_[0]->has_value());
}

TEST_F(ConnectionTest, AHostThatIsGoneForGoodIsUnavailableAtTheDeadline) {
  host_.unreachable = true;
  Connect();
  Ask("host.status", true, milliseconds(0));
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kUnavailable);
  EXPECT_TRUE(answers_[0]->error().message.contains("no host listens there"));
  EXPECT_EQ(connection_->state(), LinkState::kConnecting);
}

TEST_F(ConnectionTest, AHostThatDoesNotAnswerIsATimeout) {
  Connect();
  host_.line()->deaf = true;
  Ask("host.status", true, milliseconds(0));
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kTimeout);
}

TEST_F(ConnectionTest, AWrongTokenEndsItForGood) {
  host_.token = "right";
  Connect("wrong");
  EXPECT_EQ(states_, std::vector{LinkState::kGone});
  EXPECT_EQ(why_, "the token is not known here");
  Ask("host.status", true);
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kAuth);
  Settle(loop_);
  EXPECT_EQ(host_.hellos.size(), 1u) << "it must not try again";
}

TEST_F(ConnectionTest, TheRightTokenIsTaken) {
  host_.token = "right";
  Connect("right");
  EXPECT_EQ(connection_->state(), LinkState::kConnected);
}

TEST_F(ConnectionTest, AHostThatRefusesEndsWhatWaits) {
  host_.unreachable = true;
  Connect();
  Ask("host.status", true);
  host_.refusal = protocol::ToWire(Error(Code::kDenied, "the host is another user's"));
  host_.unreachable = false;
  Settle(loop_);
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kDenied);
  EXPECT_EQ(connection_->state(), LinkState::kGone);
}

TEST_F(ConnectionTest, AnotherVersionIsNotTriedAgain) {
  host_.version = protocol::kWireVersion + 1;
  Connect();
  EXPECT_EQ(states_, std::vector{LinkState::kGone});
  Ask("host.status", true);
  EXPECT_EQ(answers_[0]->error().code, Code::kTooNew);
}

TEST_F(ConnectionTest, AHostThatStopsForNowIsComeBackTo) {
  Connect();
  protocol::Bye bye;
  bye.error = protocol::ToWire(Error(Code::kUnavailable, "the host stops"));
  host_.Say(Encode(bye));
  Settle(loop_);
  EXPECT_EQ(host_.hellos.size(), 2u);
  EXPECT_EQ(connection_->state(), LinkState::kConnected);
}

TEST_F(ConnectionTest, WhatIsNoMessageIsPassedOver) {
  Connect();
  for (const char* odd :
       {"", "{", "null", "[]", R"({"type":"from_the_future"})", "\n\n",
        R"({"type":"reply","requestId":"999"})", R"({"type":"reply","requestId":"x"})",
        R"({"type":"welcome"})", R"({"type":"event","sessionId":"s_9","epoch":1,"event":{}})"})
    host_.Say(odd);
  Ask("host.status", true);
  ASSERT_TRUE(answers_[0]);
  EXPECT_TRUE(answers_[0]->has_value());
  EXPECT_EQ(host_.hellos.size(), 1u);
}

TEST_F(ConnectionTest, BytesThatAreNoTextEndTheLine) {
  Connect();
  host_.Say("\xff");
  Settle(loop_);
  EXPECT_EQ(host_.hellos.size(), 2u);
  EXPECT_EQ(connection_->state(), LinkState::kConnected);
}

TEST_F(ConnectionTest, AFrameMayHoldSeveralMessages) {
  Connect();
  host_.hold_replies = true;
  Ask("host.status", true);
  Ask("host.status", true);
  const std::string both = host_.held[0] + "\n" + host_.held[1];
  host_.Say(both);
  Settle(loop_);
  EXPECT_TRUE(answers_[0] && answers_[0]->has_value());
  EXPECT_TRUE(answers_[1] && answers_[1]->has_value());
}

TEST_F(ConnectionTest, TooMuchAtOnceIsRefused) {
  Connect();
  host_.line()->deaf = true;
  for (std::size_t i = 0; i < Connection::kMaxWaiting; ++i)
    connection_->Ask({.method = "host.status"}, [](const Result<Raw>&) {});
  Ask("host.status", true);
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kFull);
}

TEST_F(ConnectionTest, WhatNoFrameCarriesIsRefusedBeforeItIsSent) {
  Connect();
  std::optional<Result<Raw>> answer;
  connection_->Ask({.method = "session.send",
                    .params = "{\"text\":\"" + std::string(std::size_t{10} << 20, 'x') + "\"}"},
                   [&](Result<Raw> said) { answer = std::move(said); });
  Settle(loop_);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, Code::kFull);
  EXPECT_NE(answer->error().message.find("write it to a file"), std::string::npos);
  EXPECT_EQ(connection_->state(), LinkState::kConnected);
  EXPECT_TRUE(host_.requests.empty());
}

TEST_F(ConnectionTest, WhoStillWaitsWhenItIsDestroyedIsTold) {
  Connect();
  host_.line()->deaf = true;
  Ask("host.status", true);
  connection_.reset();
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error().code, Code::kCancelled);
}

TEST_F(ConnectionTest, AHostThatOwesNothingIsNotPinged) {
  check_every_ = milliseconds(0);
  Connect();
  Ask("host.status", true);
  const std::size_t asked = host_.pings;
  Settle(loop_);
  Settle(loop_);
  EXPECT_EQ(host_.pings, asked);
  EXPECT_EQ(silences_, std::vector<bool>());
}

TEST_F(ConnectionTest, AHostThatTakesItsTimeAndAnswersPingsIsNotCalledSilentForLong) {
  check_every_ = milliseconds(0);
  Connect();
  host_.hold_replies = true;
  Ask("host.status", true);
  // Every round answers what the round before sent.
  for (int round = 0; round < 3; ++round) RunPosted(loop_);
  EXPECT_GT(host_.pings, 0u);
  host_.Release(0);
  Settle(loop_);
  EXPECT_TRUE(answers_[0]);
  const std::size_t pings = host_.pings;
  Settle(loop_);
  EXPECT_EQ(host_.pings, pings) << "it owes nothing any more";
  EXPECT_TRUE(silences_.empty() || !silences_.back());
}

TEST_F(ConnectionTest, AHostThatHangsIsNoticedAndSoIsItsReturn) {
  check_every_ = milliseconds(0);
  Connect();
  host_.line()->deaf = true;
  Ask("host.status", true);
  EXPECT_EQ(silences_, std::vector<bool>({true}));
  EXPECT_EQ(connection_->state(), LinkState::kConnected);
  EXPECT_EQ(host_.pings, 0u);
  host_.Say(R"({"type":"reply","requestId":"1"})");
  Settle(loop_);
  EXPECT_TRUE(answers_[0]);
  EXPECT_EQ(silences_, std::vector<bool>({true, false}));
}

/// Follows a session in which a turn runs.
struct Expecting final : Follower {
  bool runs = true;
  [[nodiscard]] bool expects_news() const override { return runs; }
  void OnConnected() override {}
  void OnGone(const Error&) override {}
  void OnPush(const protocol::FromHost&) override {}
};

TEST_F(ConnectionTest, WhileATurnRunsTheHostIsPingedUnasked) {
  check_every_ = milliseconds(0);
  Expecting follower;
  Connect();
  EXPECT_TRUE(connection_->Follow("s_1", follower));
  Ask("host.status", true);
  Settle(loop_);
  EXPECT_GT(host_.pings, 0u);
  follower.runs = false;
  Settle(loop_);
  const std::size_t pings = host_.pings;
  Settle(loop_);
  EXPECT_EQ(host_.pings, pings);
  connection_.reset();
}

TEST_F(ConnectionTest, TheProcessThatHoldsASessionIsNamed) {
  Connect();
  host_.hold_replies = true;
  Ask("session.send", false);
  host_.held.clear();
  host_.Say(
      R"({"type":"reply","requestId":"1","error":{"code":"busy","message":"held","pid":4711}})");
  Settle(loop_);
  ASSERT_TRUE(answers_[0]);
  EXPECT_EQ(answers_[0]->error(), Error(Code::kBusy, "held (process 4711)"));
}

TEST(BackoffTest, GrowsFromTheFirstToTheMostAndIsNeverTheSameForAll) {
  const Backoff backoff;
  Random random(3);
  const std::vector<int> whole = {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
  for (std::size_t failed = 1; failed <= whole.size(); ++failed) {
    bool varies = false;
    const milliseconds first = backoff.After(static_cast<int>(failed), random);
    for (int i = 0; i < 100; ++i) {
      const milliseconds wait = backoff.After(static_cast<int>(failed), random);
      EXPECT_GE(wait.count(), whole[failed - 1] / 2);
      EXPECT_LE(wait.count(), whole[failed - 1]);
      varies = varies || wait != first;
    }
    EXPECT_TRUE(varies);
  }
  EXPECT_LE(backoff.After(1'000'000'000, random), milliseconds(5000));
}

}  // namespace
}  // namespace stet::client
