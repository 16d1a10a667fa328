#include "lane/queues.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"

namespace stet::lane {
namespace {

class QueuesTest : public log::LogTest {
 protected:
  std::string Add(bool steer, const std::string& text) {
    protocol::QueueItem item;
    item.client_id = "c_1";
    item.content.push_back(protocol::TextBlock{.text = text});
    const Result<std::string> id = AddToQueue(*log_, steer, std::move(item));
    EXPECT_TRUE(id) << id.error().Text();
    return id.value_or("");
  }
  static std::vector<std::string> Ids(const protocol::QueueItems& items) {
    std::vector<std::string> ids;
    for (const protocol::QueueItem& item : items) ids.push_back(item.item_id);
    return ids;
  }
  [[nodiscard]] const log::SessionState& State() const { return log_->index().state(); }

  std::unique_ptr<log::Log> log_ = Create();
};

TEST_F(QueuesTest, WhatIsAddedStandsBehindWhatIsThereInItsOwnQueue) {
  const std::string one = Add(false, "one");
  const std::string now = Add(true, "now");
  const std::string two = Add(false, "two");
  EXPECT_EQ(Ids(State().follow_ups), (std::vector<std::string>{one, two}));
  EXPECT_EQ(Ids(State().steers), std::vector<std::string>{now});
}

TEST_F(QueuesTest, AQueueIsRewrittenOnlyWithWhatItHas) {
  const std::string one = Add(false, "one");
  const std::string two = Add(false, "two");
  protocol::QueueItems turned = State().follow_ups;
  std::ranges::reverse(turned);
  ASSERT_TRUE(RewriteQueue(*log_, "follow_up", turned, "c_2"));
  EXPECT_EQ(Ids(State().follow_ups), (std::vector<std::string>{two, one}));
  const Status refused = RewriteQueue(*log_, "steer", turned, "c_2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_TRUE(refused.error().message.contains(two)) << refused.error().message;
  EXPECT_EQ(RewriteQueue(*log_, "later", {}, "c_2").error().code, Code::kInvalid);
}

TEST_F(QueuesTest, AnItemThatAClientNamesStaysAsItWasSent) {
  Add(false, "one");
  const protocol::QueueItems sent = State().follow_ups;
  protocol::QueueItems forged = sent;
  forged[0].client_id = "c_9";
  forged[0].client_message_id = "m_9";
  ASSERT_TRUE(RewriteQueue(*log_, "follow_up", forged, "c_2"));
  EXPECT_EQ(State().follow_ups, sent);
}

TEST_F(QueuesTest, ChangedWordsAreThoseOfTheClientThatChangedThem) {
  Add(false, "one");
  protocol::QueueItems wanted = State().follow_ups;
  wanted[0].content = {protocol::Block(protocol::TextBlock{.text = "uno"})};
  ASSERT_TRUE(RewriteQueue(*log_, "follow_up", wanted, "c_2"));
  wanted[0].client_id = "c_2";
  EXPECT_EQ(State().follow_ups, wanted);
}

TEST_F(QueuesTest, NothingButPlainTextIsPutIntoAQueueAndNothingTwice) {
  Add(false, "one");
  const protocol::QueueItems sent = State().follow_ups;
  protocol::QueueItems called = sent;
  called[0].content = {protocol::Block(protocol::ToolCallBlock{})};
  EXPECT_EQ(RewriteQueue(*log_, "follow_up", called, "c_2").error().code, Code::kInvalid);
  const protocol::QueueItems doubled = {sent[0], sent[0]};
  EXPECT_EQ(RewriteQueue(*log_, "follow_up", doubled, "c_2").error().code, Code::kInvalid);
  protocol::QueueItems empty = sent;
  empty[0].content.clear();
  EXPECT_EQ(RewriteQueue(*log_, "follow_up", empty, "c_2").error().code, Code::kInvalid);
  EXPECT_EQ(State().follow_ups, sent);
}

}  // namespace
}  // namespace stet::lane
