#include "agent/resume.h"

#include <gtest/gtest.h>

#include "agent/workbench.h"
#include "log/log_fixture.h"

namespace stet::agent {
namespace {

/// A session whose process died with a call open.
class ResumeTest : public log::LogTest {
 protected:
  ResumeTest() : log_(Create()) {
    stamp_.turn_id = "turn_1";
    Append(log::User("do it").payload);
    protocol::Turn start;
    start.phase = "start";
    Append(start);
    Append(log::Assistant("I will", {"tc_1"}).payload);
  }

  void Append(protocol::Payload payload) {
    ASSERT_TRUE(AppendEvent(*log_, std::move(payload), stamp_));
  }
  void AppendStarted(bool effects) {
    protocol::ToolStarted started;
    started.tool_call_id = "tc_1";
    started.tool = "Read";
    started.effects = effects;
    Append(started);
  }
  void AppendAsked() {
    protocol::Permission asked;
    asked.request_id = "req_1";
    asked.tool_call_id = "tc_1";
    asked.phase = "asked";
    Append(asked);
  }
  bool Settle(bool keep_waiting) {
    const Result<Unfinished> unfinished = ReadUnfinished(*log_);
    EXPECT_TRUE(unfinished);
    const Result<bool> waits = SettleInterrupted(*log_, *unfinished, keep_waiting);
    EXPECT_TRUE(waits) << waits.error().Text();
    return waits.value_or(false);
  }
  /// What the call was told; empty: nothing.
  std::string Told() {
    const protocol::Event leaf = *log_->EventAt(log_->index().leaf());
    const auto* result = std::get_if<protocol::ToolResult>(&leaf.payload);
    return result == nullptr ? "" : result->content.text;
  }

  std::unique_ptr<log::Log> log_;
  protocol::Stamp stamp_;
};

TEST_F(ResumeTest, ACallThatHadNotBegunIsSaidNotToHaveRun) {
  EXPECT_FALSE(Settle(true));
  EXPECT_TRUE(Told().contains("it was not run")) << Told();
  EXPECT_EQ(ReadUnfinished(*log_)->last_end, "interrupted");
  EXPECT_FALSE(ReadUnfinished(*log_)->open_turn);
}

TEST_F(ResumeTest, ACallWithEffectsIsSaidPerhapsToHaveRun) {
  AppendStarted(true);
  EXPECT_FALSE(Settle(true));
  EXPECT_TRUE(Told().contains("it may have run")) << Told();
}

TEST_F(ResumeTest, ACallThatOnlyReadHasNoResult) {
  AppendStarted(false);
  EXPECT_FALSE(Settle(true));
  EXPECT_TRUE(Told().contains("it has no result")) << Told();
}

TEST_F(ResumeTest, ACallThatWaitsForAnAnswerGoesOnWaitingWhereThatIsWanted) {
  AppendAsked();
  const std::uint64_t before = log_->last_seq();
  EXPECT_TRUE(Settle(true));
  EXPECT_EQ(log_->last_seq(), before) << "nothing is written";
  EXPECT_FALSE(Settle(false));
  EXPECT_TRUE(Told().contains("it was not run")) << Told();
  EXPECT_EQ(ReadUnfinished(*log_)->permissions.size(), 0U) << "it is withdrawn with its call";
}

TEST_F(ResumeTest, WhatIsSettledOnceStaysSo) {
  EXPECT_FALSE(Settle(false));
  const std::uint64_t before = log_->last_seq();
  EXPECT_FALSE(Settle(false));
  EXPECT_EQ(log_->last_seq(), before);
}

}  // namespace
}  // namespace stet::agent
