#include "provider/retry.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

using std::chrono::milliseconds;

std::optional<milliseconds> Next(const Failure& failure, int tries = 1, bool committed = false) {
  Random random(1);
  return NextTry({}, failure, tries, committed, random);
}

TEST(RetryTest, OnlyWhatMayPassIsTriedAgain) {
  for (const FailureKind kind : {FailureKind::kRateLimited, FailureKind::kOverloaded,
                                 FailureKind::kServer, FailureKind::kNetwork, FailureKind::kTimeout,
                                 FailureKind::kTruncated, FailureKind::kGarbled})
    EXPECT_TRUE(Next({.kind = kind})) << FailureName(kind);
  for (const FailureKind kind :
       {FailureKind::kOverflow, FailureKind::kAuth, FailureKind::kQuota, FailureKind::kRefused,
        FailureKind::kBadRequest, FailureKind::kNotFound, FailureKind::kTooLarge,
        FailureKind::kProtocol, FailureKind::kCancelled})
    EXPECT_FALSE(Next({.kind = kind})) << FailureName(kind);
}

TEST(RetryTest, TheServersWordComesFirstButNeverOverACancel) {
  EXPECT_TRUE(Next({.kind = FailureKind::kBadRequest, .should_retry = true}));
  EXPECT_FALSE(Next({.kind = FailureKind::kServer, .should_retry = false}));
  EXPECT_FALSE(Next({.kind = FailureKind::kCancelled, .should_retry = true}));
}

TEST(RetryTest, WhatWasSeenIsNotContradicted) {
  EXPECT_FALSE(Next({.kind = FailureKind::kServer}, 1, true));
}

TEST(RetryTest, WaitsDoubleUpToTheLongestWithUpToAQuarterLess) {
  const int expected[] = {500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000, 30'000};
  for (int tries = 1; tries <= 9; ++tries) {
    const milliseconds longest(expected[tries - 1]);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      const auto wait = NextTry({}, {.kind = FailureKind::kServer}, tries, false, random);
      ASSERT_TRUE(wait);
      EXPECT_LE(*wait, longest);
      EXPECT_GE(*wait, longest * 3 / 4);
    }
  }
  EXPECT_FALSE(Next({.kind = FailureKind::kServer}, 10));
}

TEST(RetryTest, WhatTheServerAsksForIsObeyedUpToALimit) {
  EXPECT_EQ(Next({.kind = FailureKind::kRateLimited, .retry_after_ms = 0}), milliseconds(0));
  EXPECT_EQ(Next({.kind = FailureKind::kRateLimited, .retry_after_ms = 7000}), milliseconds(7000));
  EXPECT_EQ(Next({.kind = FailureKind::kRateLimited, .retry_after_ms = 3'600'000}),
            milliseconds(60'000));
}

}  // namespace
}  // namespace stet::provider
