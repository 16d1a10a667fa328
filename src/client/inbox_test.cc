#include "client/inbox.h"

#include <thread>

#include <gtest/gtest.h>
#include <poll.h>

namespace stet::client {
namespace {

bool IsReadable(const Inbox& inbox) {
  pollfd wait{.fd = inbox.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&wait, 1, 0) == 1;
}

TEST(InboxTest, NewsComesInOrderAndTheDescriptorSaysWhetherThereIsAny) {
  Inbox inbox;
  const client::Watcher watcher = inbox.Watcher();
  EXPECT_FALSE(IsReadable(inbox));
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    protocol::Event event;
    event.seq = seq;
    watcher(&event, nullptr);
  }
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    EXPECT_TRUE(IsReadable(inbox));
    EXPECT_EQ(std::get<protocol::Event>(*inbox.Take()).seq, seq);
  }
  EXPECT_FALSE(inbox.Take());
  EXPECT_FALSE(IsReadable(inbox));
}

TEST(InboxTest, APokeWakesWhoeverWaitsAlsoBeforeTheyDo) {
  Inbox inbox;
  inbox.Poke();
  EXPECT_FALSE(inbox.Wait());
}

TEST(InboxTest, NothingIsLostBetweenTwoThreads) {
  constexpr std::uint64_t kMany = 20'000;
  Inbox inbox;
  std::thread host([watcher = inbox.Watcher()] {
    for (std::uint64_t seq = 1; seq <= kMany; ++seq) {
      protocol::Transient transient;
      transient.seq = seq;
      watcher(nullptr, &transient);
    }
  });
  std::uint64_t heard = 0;
  while (heard < kMany) {
    const std::optional<News> news = inbox.Wait();
    ASSERT_TRUE(news);
    ASSERT_EQ(std::get<protocol::Transient>(*news).seq, ++heard);
  }
  host.join();
}

}  // namespace
}  // namespace stet::client
