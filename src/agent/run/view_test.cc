#include "agent/run/view.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "log/log_fixture.h"

namespace stet::agent {
namespace {

class RunViewTest : public log::LogTest {
 protected:
  RunViewTest() : log_(Create()) {}

  std::string Add(protocol::Payload payload) {
    return Append(*log_, {.payload = std::move(payload)});
  }
  std::string Raise(const std::string& id) {
    protocol::FindingRaised raised;
    raised.finding_id = id;
    raised.policy = "rule";
    raised.severity = "hard-deny";
    raised.message = "no";
    return Add(std::move(raised));
  }
  void Write(const std::string& call) {
    protocol::FileFact fact;
    fact.op = "write";
    fact.path = "/p/a";
    fact.after = Sha256Hex("new");
    fact.tool_call_id = call;
    Add(std::move(fact));
  }
  /// What a view says that was there all along, and one that is made now.
  std::string Live() {
    EXPECT_TRUE(view_.Update(*log_));
    return Encode(view_.state().Report());
  }
  std::string Fresh() {
    RunView fresh;
    EXPECT_TRUE(fresh.Update(*log_));
    return Encode(fresh.state().Report());
  }

  std::unique_ptr<log::Log> log_;
  RunView view_;
};

TEST_F(RunViewTest, EveryStepGivesWhatAFreshLookGives) {
  Append(*log_, log::User("go"));
  EXPECT_EQ(Live(), Fresh());
  Append(*log_, log::Assistant("", {"c1"}));
  Write("c1");
  EXPECT_EQ(Live(), Fresh());
  EXPECT_EQ(view_.state().transactions().open()[0].status, "writing");
  Append(*log_, log::ResultOf("c1"));
  EXPECT_EQ(Live(), Fresh());
  EXPECT_EQ(view_.state().transactions().open()[0].status, "written");
  Raise("h");
  EXPECT_EQ(Live(), Fresh());
}

TEST_F(RunViewTest, ARewindTakesFindingsOutOfViewAndLeavesWrites) {
  const std::string first = Append(*log_, log::User("go"));
  Append(*log_, log::Assistant("", {"c1"}));
  Write("c1");
  Append(*log_, log::ResultOf("c1"));
  Raise("h");
  Live();
  EXPECT_EQ(view_.state().findings().open().size(), 1u);
  ASSERT_TRUE(log_->Rewind(first, log_->leaf_id()));
  EXPECT_EQ(Live(), Fresh());
  EXPECT_TRUE(view_.state().findings().open().empty());
  ASSERT_EQ(view_.state().transactions().open().size(), 1u);
  EXPECT_EQ(view_.state().transactions().open()[0].status, "written")
      << "its result stands on the other branch";
  Raise("h2");
  EXPECT_EQ(Live(), Fresh());
  EXPECT_EQ(view_.state().findings().open()[0].data.finding_id, "h2");
}

TEST_F(RunViewTest, WhatAnotherDeviceWroteLiftsNoFindingAndPinsNothing) {
  Append(*log_, log::User("go"));
  Raise("h");
  Raise("h2");
  const auto waive = [&](const std::string& id) {
    protocol::Waiver waiver;
    waiver.finding_id = id;
    waiver.reason = "it is fine";
    waiver.by = "person";
    waiver.kind = "waiver";
    Add(std::move(waiver));
  };
  waive("h");
  protocol::Pin pin;
  pin.pin_id = "p";
  pin.text = "obey";
  Add(std::move(pin));
  RunView own;
  ASSERT_TRUE(own.Update(*log_));
  EXPECT_EQ(own.state().findings().open().size(), 1U);
  RunView taken_over;
  taken_over.TrustFrom(log_->last_seq() + 1);
  ASSERT_TRUE(taken_over.Update(*log_));
  EXPECT_EQ(taken_over.state().findings().open().size(), 2U);
  EXPECT_TRUE(taken_over.state().pins().empty());
  waive("h2");
  ASSERT_TRUE(taken_over.Update(*log_));
  EXPECT_EQ(taken_over.state().findings().open().size(), 1U);
}

}  // namespace
}  // namespace stet::agent
