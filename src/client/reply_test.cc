#include "client/reply.h"

#include <optional>

#include <gtest/gtest.h>

#include "client/await.h"

namespace stet::client {
namespace {

TEST(ReplyTest, IsCalledOnceByTheFirstOfItsCopies) {
  std::vector<int> heard;
  const Reply<int> reply([&](const Result<int>& answer) { heard.push_back(answer.value_or(-1)); });
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): that is what is tested.
  const Reply<int> copy = reply;
  copy(1);
  reply(2);
  EXPECT_EQ(heard, std::vector<int>{1});
}

TEST(ReplyTest, ThatIsDestroyedUncalledIsCancelled) {
  std::optional<Status> heard;
  {
    std::optional<Reply<void>> reply(std::in_place, [&](Status answer) { heard = answer; });
    const Reply<void> copy = *reply;
    reply.reset();
    EXPECT_FALSE(heard) << "a copy is there";
  }
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->error().code, Code::kCancelled);
}

// Calls take their replies by value. NOLINTBEGIN(performance-unnecessary-value-param)
struct Adder {
  void Add(int a, const std::string& b, Reply<std::string> reply) { reply(std::to_string(a) + b); }
  void Forget(Reply<void>) {}
};
// NOLINTEND(performance-unnecessary-value-param)

TEST(AwaitTest, GivesWhatTheCallReplies) {
  Adder adder;
  EXPECT_EQ(Await(adder, &Adder::Add, 1, "x"), "1x");
}

TEST(AwaitTest, ACallThatForgetsItsReplyDoesNotHang) {
  Adder adder;
  EXPECT_EQ(Await(adder, &Adder::Forget).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace stet::client
