#include "client/projection.h"

#include <gtest/gtest.h>

namespace stet::client {
namespace {

using protocol::Event;
using Ids = std::vector<std::string>;

Event Make(std::uint64_t seq, const std::string& id, std::optional<std::string> parent,
           protocol::Payload payload) {
  Event event;
  event.seq = seq;
  event.id = id;
  event.parent_id = std::move(parent);
  event.payload = std::move(payload);
  return event;
}

Event Said(std::uint64_t seq, const std::string& id, std::optional<std::string> parent,
           std::optional<std::string> queue_item = {}) {
  protocol::UserMessage message;
  message.queue_item_id = std::move(queue_item);
  return Make(seq, id, std::move(parent), message);
}

Event Rewound(std::uint64_t seq, std::optional<std::string> target) {
  protocol::Rewind rewind;
  rewind.target_event_id = std::move(target);
  return Make(seq, "r" + std::to_string(seq), {}, rewind);
}

Ids PathOf(const Projection& projection, std::size_t count = 100) {
  Ids ids;
  for (const Event* event : projection.Path(count)) ids.push_back(event->id);
  return ids;
}

template <class Delta>
protocol::Transient Wrote(const std::string& id, const std::string& text, std::int64_t index = 0) {
  Delta delta;
  delta.event_id = id;
  delta.block_index = index;
  delta.delta = text;
  protocol::Transient transient;
  transient.transient = delta;
  return transient;
}

protocol::Transient Started(const std::string& id) {
  protocol::MessageStart start;
  start.event_id = id;
  start.role = "assistant";
  protocol::Transient transient;
  transient.transient = start;
  return transient;
}

TEST(ProjectionTest, TreeEventsBecomeTheLeaf) {
  Projection projection({.whole = true});
  EXPECT_EQ(projection.leaf_id(), std::nullopt);
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  protocol::Turn turn;
  projection.Take(Make(3, "t", "b", turn));
  EXPECT_EQ(projection.leaf_id(), "b");
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
  EXPECT_EQ(PathOf(projection, 1), Ids{"b"});
  EXPECT_EQ(projection.events().size(), 3u);
}

TEST(ProjectionTest, RewindAndBranchMoveTheLeaf) {
  Projection projection({.whole = true});
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  projection.Take(Rewound(3, "a"));
  EXPECT_EQ(PathOf(projection), Ids{"a"});
  projection.Take(Said(4, "c", "a"));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "c"}));
  protocol::Branch branch;
  branch.leaf_event_id = "b";
  projection.Take(Make(5, "back", {}, branch));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
  projection.Take(Rewound(6, std::nullopt));
  EXPECT_EQ(PathOf(projection), Ids{});
  EXPECT_EQ(projection.leaf_id(), std::nullopt);
}

TEST(ProjectionTest, APlaceThatStandsNowhereIsOnlyPossibleInThePartThatIsNotKnown) {
  Projection whole({.whole = true});
  whole.Take(Said(1, "a", {}));
  whole.Take(Rewound(2, "nowhere"));
  EXPECT_EQ(whole.leaf_id(), "a");
  Projection part;
  part.Take(Said(8, "h", "g"));
  part.Take(Rewound(9, "b"));
  EXPECT_EQ(part.leaf_id(), "b");
  EXPECT_EQ(PathOf(part), Ids{});
}

TEST(ProjectionTest, AnEventWithoutAParentInAWholeLogHangsOnTheLeafBeforeIt) {
  Projection projection({.whole = true});
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "damaged"));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
}

TEST(ProjectionTest, OfTwoWithOneIdTheFirstCounts) {
  Projection projection({.whole = true});
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  projection.Take(Said(3, "a", "b"));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
  EXPECT_EQ(projection.Find("a")->seq, 1u);
}

TEST(ProjectionTest, ParentsThatGoInACircleEnd) {
  Projection projection;
  projection.Take(Said(1, "a", "b"));
  projection.Take(Said(2, "b", "a"));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
}

TEST(ProjectionTest, TheOldestEventsAreLetGo) {
  Projection projection({.whole = true, .max_events = 2});
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  projection.Take(Said(3, "c", "b"));
  EXPECT_EQ(projection.Find("a"), nullptr);
  EXPECT_EQ(PathOf(projection), (Ids{"b", "c"}));
}

TEST(ProjectionTest, DraftsAreReplacedByTheirMessage) {
  Projection projection;
  projection.Take(Started("m"));
  projection.Take(Wrote<protocol::ThinkingDelta>("m", "hm", 0));
  projection.Take(Wrote<protocol::TextDelta>("m", "he", 1));
  projection.Take(Wrote<protocol::TextDelta>("m", "llo", 1));
  projection.Take(Wrote<protocol::TextDelta>("unknown", "x"));
  ASSERT_EQ(projection.drafts().size(), 1u);
  Draft expected;
  expected.role = "assistant";
  expected.blocks[0] = {.kind = "thinking", .text = "hm", .tool_call_id = "", .tool_name = ""};
  expected.blocks[1] = {.kind = "text", .text = "hello", .tool_call_id = "", .tool_name = ""};
  EXPECT_EQ(projection.drafts().at("m"), expected);
  projection.Take(Said(1, "m", {}));
  EXPECT_TRUE(projection.drafts().empty());
}

TEST(ProjectionTest, ACancelledDraftIsGoneAndABeginningStartsAnew) {
  Projection projection;
  projection.Take(Started("m"));
  projection.Take(Wrote<protocol::TextDelta>("m", "one"));
  projection.Take(Started("m"));
  EXPECT_TRUE(projection.drafts().at("m").blocks.empty());
  protocol::MessageCancelled gone;
  gone.event_id = "m";
  protocol::Transient transient;
  transient.transient = gone;
  projection.Take(transient);
  EXPECT_TRUE(projection.drafts().empty());
}

protocol::QueueItem Item(const std::string& id) {
  protocol::QueueItem item;
  item.item_id = id;
  return item;
}

TEST(ProjectionTest, WhatIsQueuedWaitsUntilItIsAnEvent) {
  Projection projection;
  protocol::QueueUpdate update;
  update.queue = "follow_up";
  update.items = {Item("q1"), Item("q2")};
  projection.Take(Make(1, "u1", {}, update));
  EXPECT_EQ(projection.follow_ups(), update.items);
  projection.Take(Said(2, "a", {}, "q1"));
  EXPECT_EQ(projection.follow_ups(), protocol::QueueItems{Item("q2")});
  projection.Take(Make(3, "u2", {}, update));
  EXPECT_EQ(projection.follow_ups(), protocol::QueueItems{Item("q2")}) << "q1 is an event";
  update.queue = "steer";
  update.items = {Item("q3")};
  projection.Take(Make(4, "u3", {}, update));
  EXPECT_EQ(projection.steers(), update.items);
}

TEST(ProjectionTest, WhatIsAskedIsOpenUntilItIsAnswered) {
  Projection projection;
  protocol::Permission asked;
  asked.request_id = "r";
  asked.tool_call_id = "c";
  asked.phase = "asked";
  asked.options = Raw{R"({"tool":"Bash","summary":"ls"})"};
  projection.Take(Make(1, "p1", {}, asked));
  ASSERT_EQ(projection.asks().size(), 1u);
  EXPECT_EQ(projection.asks()[0].tool, "Bash");
  EXPECT_EQ(projection.asks()[0].request_id, "r");
  asked.phase = "answered";
  projection.Take(Make(2, "p2", {}, asked));
  EXPECT_TRUE(projection.asks().empty());
  protocol::Question question;
  question.question_id = "q";
  question.phase = "asked";
  question.text = "which?";
  projection.Take(Make(3, "q1", {}, question));
  ASSERT_EQ(projection.questions().size(), 1u);
  EXPECT_EQ(projection.questions()[0].text, "which?");
  question.phase = "withdrawn";
  projection.Take(Make(4, "q2", {}, question));
  EXPECT_TRUE(projection.questions().empty());
}

TEST(ProjectionTest, TheHostsWordOnQueuesAndAsksReplacesWhatWasFolded) {
  Projection projection;
  protocol::LiveState state;
  state.follow_ups = {Item("q1")};
  state.asks.emplace_back().request_id = "r";
  projection.Set(state);
  EXPECT_EQ(projection.follow_ups(), state.follow_ups);
  EXPECT_EQ(projection.asks(), state.asks);
  projection.Clear();
  EXPECT_TRUE(projection.follow_ups().empty());
}

}  // namespace
}  // namespace stet::client
