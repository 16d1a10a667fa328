#include "face/waits.h"

#include <gtest/gtest.h>

namespace stet::face {
namespace {

using std::chrono::milliseconds;

TEST(WaitsTest, WhatWaitsForLongestIsSaidOnceItHasWaitedForLong) {
  FakeClock clock;
  Waits waits(clock);
  const std::uint64_t send = waits.Begin("send");
  clock.Advance(Waits::kUnsaid - milliseconds(1));
  EXPECT_EQ(waits.Row(), "");
  clock.Advance(milliseconds(1));
  EXPECT_EQ(waits.Row(), "waiting for the host: send, 0 s  Ctrl-C leaves");
  waits.Begin("cost");
  clock.Advance(milliseconds(3000));
  EXPECT_EQ(waits.Row(), "waiting for the host: send, 3 s  Ctrl-C leaves");
  waits.End(send);
  EXPECT_EQ(waits.Row(), "waiting for the host: cost, 3 s  Ctrl-C leaves");
}

TEST(WaitsTest, WhatIsAnsweredIsNotWaitedFor) {
  FakeClock clock;
  Waits waits(clock);
  waits.End(waits.Begin("send"));
  clock.Advance(milliseconds(5000));
  EXPECT_TRUE(waits.empty());
  EXPECT_EQ(waits.Row(), "");
}

TEST(WaitsTest, ALineThatIsNotWellIsSaid) {
  FakeClock clock;
  Waits waits(clock);
  client::Link link;
  EXPECT_EQ(waits.Row(link), "");
  link.silent_since = clock.Steady();
  clock.Advance(milliseconds(7000));
  EXPECT_EQ(waits.Row(link), "the host has not answered for 7 s  Ctrl-C twice leaves");
  waits.Begin("send");
  clock.Advance(milliseconds(1000));
  EXPECT_EQ(waits.Row(link), "waiting for the host: send, 1 s  Ctrl-C leaves");
  EXPECT_EQ(waits.Row({.connected = false, .why = "it was cut"}),
            "the connection to the host is lost (it was cut): trying again  "
            "waiting for the host: send, 1 s  Ctrl-C leaves");
}

}  // namespace
}  // namespace stet::face
