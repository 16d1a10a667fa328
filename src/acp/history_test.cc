#include "acp/history.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

protocol::Event EventOf(std::uint64_t seq) {
  protocol::Event event;
  event.seq = seq;
  return event;
}

TEST(HistoryTest, AllComeInOrderThroughLittleRoom) {
  std::atomic<int> woken = 0;
  History history([&] { ++woken; });
  constexpr std::uint64_t kMany = History::kMaxWaiting * 10;
  std::thread reads([&] {
    for (std::uint64_t seq = 1; seq <= kMany; ++seq) EXPECT_TRUE(history.Put(EventOf(seq)));
  });
  for (std::uint64_t next = 1; next <= kMany;) {
    const std::optional<protocol::Event> event = history.Take();
    if (!event) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(event->seq, next++);
  }
  reads.join();
  EXPECT_GE(woken, 1);
  EXPECT_FALSE(history.Take());
}

TEST(HistoryTest, ItsEndFreesTheReaderThatWaitsForRoom) {
  History history([] {});
  for (std::uint64_t seq = 1; seq <= History::kMaxWaiting; ++seq) history.Put(EventOf(seq));
  std::thread reads([&] { EXPECT_FALSE(history.Put(EventOf(1000))); });
  history.End();
  reads.join();
  EXPECT_FALSE(history.Take());
  EXPECT_FALSE(history.Put(EventOf(1001)));
}

}  // namespace
}  // namespace stet::acp
