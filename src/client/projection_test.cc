#include "client/projection.h"

#include <gtest/gtest.h>

namespace stet::client {
namespace {

using protocol::Event;
using Ids = std::vector<std::string>;

constexpr std::size_t kMany = 100;

Event Make(std::uint64_t seq, const std::string& id, std::optional<std::string> parent,
           protocol::Payload payload) {
  Event event;
  event.seq = seq;
  event.id = id;
  event.parent_id = std::move(parent);
  event.payload = std::move(payload);
  return event;
}

Event Said(std::uint64_t seq, const std::string& id, std::optional<std::string> parent) {
  return Make(seq, id, std::move(parent), protocol::UserMessage());
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

TEST(ProjectionTest, TreeEventsBecomeTheLeaf) {
  Projection projection(kMany);
  EXPECT_EQ(projection.leaf_id(), std::nullopt);
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  protocol::Turn turn;
  projection.Take(Make(3, "t", "b", turn));
  EXPECT_EQ(projection.leaf_id(), "b");
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
  EXPECT_EQ(PathOf(projection, 1), Ids{"b"});
  EXPECT_EQ(projection.Find("t"), nullptr) << "it is not of the tree";
}

TEST(ProjectionTest, RewindAndBranchMoveTheLeaf) {
  Projection projection(kMany);
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

TEST(ProjectionTest, APlaceThatIsNotKnownEndsThePath) {
  Projection projection(kMany);
  projection.Take(Said(8, "h", "g"));
  projection.Take(Rewound(9, "b"));
  EXPECT_EQ(projection.leaf_id(), "b");
  EXPECT_EQ(PathOf(projection), Ids{});
  projection.Take(Said(10, "i", "b"));
  EXPECT_EQ(PathOf(projection), Ids{"i"});
}

TEST(ProjectionTest, OfTwoWithOneIdTheFirstCounts) {
  Projection projection(kMany);
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  projection.Take(Said(3, "a", "b"));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
  EXPECT_EQ(projection.Find("a")->seq, 1u);
}

TEST(ProjectionTest, ParentsThatGoInACircleEnd) {
  Projection projection(kMany);
  projection.Take(Said(1, "a", "b"));
  projection.Take(Said(2, "b", "a"));
  EXPECT_EQ(PathOf(projection), (Ids{"a", "b"}));
}

TEST(ProjectionTest, TheOldestEventsAreLetGo) {
  Projection projection(2);
  projection.Take(Said(1, "a", {}));
  projection.Take(Said(2, "b", "a"));
  projection.Take(Said(3, "c", "b"));
  EXPECT_EQ(projection.Find("a"), nullptr);
  EXPECT_EQ(PathOf(projection), (Ids{"b", "c"}));
}

}  // namespace
}  // namespace stet::client
