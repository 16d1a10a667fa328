#include "lane/queues.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"

namespace stet::lane {
namespace {

class QueuesTest : public log::LogTest {
 protected:
  std::string Add(bool steer, const std::string& text) {
    protocol::QueueItem item;
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
  ASSERT_TRUE(RewriteQueue(*log_, "follow_up", turned));
  EXPECT_EQ(Ids(State().follow_ups), (std::vector<std::string>{two, one}));
  const Status refused = RewriteQueue(*log_, "steer", turned);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_TRUE(refused.error().message.contains(two)) << refused.error().message;
  EXPECT_EQ(RewriteQueue(*log_, "later", {}).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet::lane
