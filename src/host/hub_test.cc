#include "host/hub.h"

#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::host {
namespace {

using protocol::Transient;

Transient Delta(std::uint64_t seq, const std::string& text, const std::string& event = "e1",
                std::int64_t block = 0) {
  protocol::TextDelta delta;
  delta.event_id = event;
  delta.block_index = block;
  delta.delta = text;
  Transient transient;
  transient.seq = seq;
  transient.transient = std::move(delta);
  return transient;
}

Transient Start(std::uint64_t seq, const std::string& event = "e1") {
  protocol::MessageStart start;
  start.event_id = event;
  start.role = "assistant";
  Transient transient;
  transient.seq = seq;
  transient.transient = std::move(start);
  return transient;
}

class Ears final : public HubListener {
 public:
  void OnItem(const HubItem& item) override {
    items.push_back(item);
    const JsonView delta = JsonView(*item.message)["transient"]["transient"]["delta"];
    text += delta.StringOr("");
  }
  std::vector<HubItem> items;
  std::string text;
};

class HubTest : public testing::Test {
 protected:
  HubTest() { hub_.Begin(3, 10); }

  /// Until what is gathered has been sent.
  void Settle() {
    Timer timer(loop_);
    timer.Start(Hub::kGather * 2, [this] { loop_.Stop(); });
    loop_.Run();
  }

  Loop loop_;
  KeptBudget budget_;
  Hub hub_{loop_, budget_, "s1"};
  Ears ears_;
};

TEST_F(HubTest, ManyDeltasBecomeFewMessagesWithTheSameText) {
  hub_.Join(ears_);
  hub_.AddTransient(Start(11));
  std::string said;
  for (std::uint64_t seq = 12; seq < 112; ++seq) {
    hub_.AddTransient(Delta(seq, "x" + std::to_string(seq)));
    said += "x" + std::to_string(seq);
  }
  Settle();
  EXPECT_EQ(ears_.text, said);
  EXPECT_LT(ears_.items.size(), 10U);
  EXPECT_EQ(ears_.items.back().seq, 111U);
  EXPECT_EQ(hub_.seq(), 111U);
}

TEST_F(HubTest, EveryNumberIsCoveredOnceAndInOrder) {
  hub_.Join(ears_);
  hub_.AddTransient(Start(11));
  for (std::uint64_t seq = 12; seq < 30; ++seq)
    hub_.AddTransient(Delta(seq, "x", "e1", seq < 20 ? 0 : 1));
  hub_.AddEvent("e1", 30, R"({"seq":30})");
  std::uint64_t next = 11;
  for (const HubItem& item : ears_.items) {
    EXPECT_EQ(item.from_seq, next);
    next = item.seq + 1;
  }
  EXPECT_EQ(next, 31U);
}

TEST_F(HubTest, DeltasOfTwoBlocksAreNotJoined) {
  hub_.Join(ears_);
  hub_.AddTransient(Delta(11, "a", "e1", 0));
  hub_.AddTransient(Delta(12, "b", "e1", 0));
  hub_.AddTransient(Delta(13, "c", "e1", 1));
  hub_.AddTransient(Delta(14, "d", "e2", 1));
  Settle();
  EXPECT_EQ(ears_.items.size(), 4U);
  EXPECT_EQ(ears_.text, "abcd");
}

TEST_F(HubTest, AnEventIsSentAtOnceBehindWhatWasGathered) {
  hub_.Join(ears_);
  hub_.AddTransient(Delta(11, "a"));
  hub_.AddTransient(Delta(12, "b"));
  hub_.AddEvent("e1", 13, R"({"seq":13,"id":"e1"})");
  ASSERT_EQ(ears_.items.size(), 3U);
  EXPECT_TRUE(ears_.items.back().persistent);
  EXPECT_EQ(JsonView(*ears_.items.back().message)["event"]["id"].StringOr(""), "e1");
}

TEST_F(HubTest, WhatIsSaidSoFarIsKnownUntilTheMessageIsThere) {
  hub_.AddTransient(Start(11));
  hub_.AddTransient(Delta(12, "so "));
  hub_.AddTransient(Delta(13, "far"));
  ASSERT_EQ(hub_.partial().size(), 1U);
  ASSERT_EQ(hub_.partial()[0].blocks.size(), 1U);
  EXPECT_EQ(hub_.partial()[0].blocks[0].text, "so far");
  hub_.AddEvent("e1", 14, R"({"seq":14})");
  EXPECT_TRUE(hub_.partial().empty());
}

TEST_F(HubTest, WhatRunsAndSinceWhenIsKnownUntilItEnds) {
  const auto add = [&](std::uint64_t seq, std::int64_t ts, protocol::TransientPayload payload) {
    protocol::Transient transient;
    transient.seq = seq;
    transient.ts = ts;
    transient.transient = std::move(payload);
    hub_.AddTransient(transient);
  };
  protocol::RuntimeStart turn;
  turn.turn_id = "t";
  add(11, 1000, turn);
  protocol::ToolExecutionStart start;
  start.event_id = "e";
  start.tool_call_id = "c";
  start.tool_name = "Bash";
  start.args = Raw{R"({"command":"make"})"};
  add(12, 1500, start);
  start.tool_call_id = "long";
  start.args = Raw{"\"" + std::string(Hub::kMaxArgs, 'x') + "\""};
  add(13, 1600, start);
  protocol::ToolExecutionUpdate wrote;
  wrote.tool_call_id = "c";
  wrote.partial = std::string(Hub::kMaxOutput, 'a') + "the end";
  add(14, 1700, wrote);
  const protocol::LivePush live = hub_.Live();
  EXPECT_EQ(live.epoch, 3);
  EXPECT_EQ(live.seq, 14U);
  EXPECT_EQ(live.turn_id, "t");
  EXPECT_EQ(live.turn_began_at, 1000);
  ASSERT_EQ(live.running.size(), 2U);
  EXPECT_EQ(live.running[0].began_at, 1500);
  EXPECT_EQ(live.running[0].output.size(), Hub::kMaxOutput);
  EXPECT_TRUE(live.running[0].output.ends_with("the end"));
  EXPECT_EQ(live.running[1].args.text, "{}");
  protocol::ToolExecutionEnd end;
  end.tool_call_id = "c";
  add(15, 1800, end);
  EXPECT_EQ(hub_.Live().running.size(), 1U);
  protocol::RuntimeEnd over;
  over.turn_id = "t";
  add(16, 1900, over);
  EXPECT_EQ(hub_.Live().turn_id, std::nullopt);
  EXPECT_TRUE(hub_.Live().running.empty());
}

TEST_F(HubTest, CoversOnlyItsOwnEpochAndOnlyWhatIsKept) {
  EXPECT_TRUE(hub_.Covers(3, 10));
  EXPECT_FALSE(hub_.Covers(3, 9));
  EXPECT_FALSE(hub_.Covers(2, 10));
  EXPECT_FALSE(hub_.Covers(3, 11));
  hub_.AddEvent("e", 11, "{}");
  hub_.AddEvent("f", 12, "{}");
  std::vector<std::uint64_t> replayed;
  hub_.Replay(11, [&](const HubItem& item) { replayed.push_back(item.seq); });
  EXPECT_EQ(replayed, std::vector<std::uint64_t>{12});
  hub_.Begin(4, 12);
  EXPECT_FALSE(hub_.Covers(3, 12));
  EXPECT_TRUE(hub_.Covers(4, 12));
}

TEST_F(HubTest, KeepsNoMoreThanItsCap) {
  const std::string line(100'000, 'x');
  for (std::uint64_t seq = 11; seq < 111; ++seq) hub_.AddEvent("e", seq, line);
  EXPECT_LE(budget_.bytes(), Hub::kMaxKept);
  EXPECT_FALSE(hub_.Covers(3, 10));
  EXPECT_TRUE(hub_.Covers(3, 105));
}

TEST_F(HubTest, AllHubsKeepNoMoreThanTheirBudgetAndTheSilentOneGivesFirst) {
  KeptBudget small(500'000);
  Hub silent(loop_, small, "s2");
  Hub busy(loop_, small, "s3");
  silent.Begin(1, 0);
  busy.Begin(1, 0);
  const std::string line(50'000, 'x');
  for (std::uint64_t seq = 1; seq <= 8; ++seq) silent.AddEvent("e", seq, line);
  for (std::uint64_t seq = 1; seq <= 6; ++seq) busy.AddEvent("e", seq, line);
  EXPECT_LE(small.bytes(), 500'000U);
  EXPECT_FALSE(silent.Covers(1, 0));
  EXPECT_TRUE(busy.Covers(1, 0));
}

TEST_F(HubTest, GivesItsMemoryBackWhenItForgets) {
  hub_.AddEvent("e", 11, std::string(1000, 'x'));
  EXPECT_GT(budget_.bytes(), 0U);
  hub_.Forget();
  EXPECT_EQ(budget_.bytes(), 0U);
  EXPECT_FALSE(hub_.Covers(3, 10));
  EXPECT_TRUE(hub_.Covers(3, 11));
}

}  // namespace
}  // namespace stet::host
