#include "base/clock.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

using std::chrono::milliseconds;

TEST(Clock, TheSystemClockSaysUnixMilliseconds) {
  constexpr Millis kYear2020 = 1'577'836'800'000;
  constexpr Millis kYear2200 = 7'258'118'400'000;
  EXPECT_GT(SystemClock().Now(), kYear2020);
  EXPECT_LT(SystemClock().Now(), kYear2200);
}

TEST(Clock, TheSteadyClockDoesNotGoBack) {
  const auto first = SystemClock().Steady();
  EXPECT_GE(SystemClock().Steady(), first);
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock(5000);
  const auto steady = clock.Steady();
  EXPECT_EQ(clock.Now(), 5000);
  EXPECT_EQ(clock.Steady(), steady);

  clock.Advance(milliseconds(250));
  EXPECT_EQ(clock.Now(), 5250);
  EXPECT_EQ(clock.Steady() - steady, milliseconds(250));
}

TEST(FakeClock, SettingWallTimeLeavesSteadyTimeAlone) {
  FakeClock clock(5000);
  const auto steady = clock.Steady();
  clock.Set(1);
  EXPECT_EQ(clock.Now(), 1);
  EXPECT_EQ(clock.Steady(), steady);
}

TEST(Deadline, PassesWhenItsTimeHasCome) {
  FakeClock clock;
  const Deadline deadline = Deadline::After(milliseconds(100), clock);
  EXPECT_FALSE(deadline.Passed());
  EXPECT_EQ(deadline.Left(), milliseconds(100));
  EXPECT_EQ(deadline.PollTimeout(), 100);

  clock.Advance(milliseconds(99));
  EXPECT_FALSE(deadline.Passed());
  EXPECT_EQ(deadline.PollTimeout(), 1);

  clock.Advance(milliseconds(1));
  EXPECT_TRUE(deadline.Passed());
  EXPECT_EQ(deadline.PollTimeout(), 0);

  clock.Advance(milliseconds(1000));
  EXPECT_EQ(deadline.Left(), milliseconds(0));
}

TEST(Deadline, IsNotMovedByWallTime) {
  FakeClock clock;
  const Deadline deadline = Deadline::After(milliseconds(100), clock);
  clock.Set(clock.Now() + 1'000'000);
  EXPECT_FALSE(deadline.Passed());
}

TEST(Deadline, NeverDoesNotPass) {
  const Deadline never = Deadline::Never();
  EXPECT_FALSE(never.Passed());
  EXPECT_EQ(never.PollTimeout(), -1);
  EXPECT_EQ(never.Left(), Deadline::kMaxLeft);
}

TEST(Deadline, ASpanTooLongToRepresentNeverPasses) {
  EXPECT_EQ(Deadline::After(milliseconds::max()).PollTimeout(), -1);
}

TEST(Deadline, ANegativeSpanHasPassedAlready) {
  FakeClock clock;
  EXPECT_TRUE(Deadline::After(milliseconds(-5), clock).Passed());
  EXPECT_TRUE(Deadline::After(milliseconds::min(), clock).Passed());
}

TEST(Deadline, WhatIsLeftIsCapped) {
  FakeClock clock;
  const Deadline deadline = Deadline::After(std::chrono::hours(24 * 365), clock);
  EXPECT_EQ(deadline.Left(), Deadline::kMaxLeft);
  EXPECT_EQ(deadline.PollTimeout(), Deadline::kMaxLeft.count());
}

/// Half a millisecond past a whole one, which FakeClock cannot be.
class HalfClock final : public Clock {
 public:
  [[nodiscard]] Millis Now() const override { return 0; }
  [[nodiscard]] std::chrono::steady_clock::time_point Steady() const override {
    return std::chrono::steady_clock::time_point(at);
  }
  std::chrono::microseconds at{0};
};

TEST(Deadline, APartOfAMillisecondIsRoundedUp) {
  HalfClock clock;
  const Deadline deadline = Deadline::After(milliseconds(1), clock);
  clock.at = std::chrono::microseconds(999);
  EXPECT_FALSE(deadline.Passed());
  EXPECT_EQ(deadline.PollTimeout(), 1);
}

TEST(FormatUtc, WritesIso8601WithMilliseconds) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatUtc(1'709'210'096'007), "2024-02-29T12:34:56.007Z");
  EXPECT_EQ(FormatUtc(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace stet
