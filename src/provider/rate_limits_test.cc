#include "provider/rate_limits.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

TEST(RateLimitsTest, BothOrdersOfNamesAreRead) {
  const auto limits = ReadRateLimits({{"anthropic-ratelimit-input-tokens-limit", "100"},
                                      {"anthropic-ratelimit-input-tokens-remaining", "7"},
                                      {"x-ratelimit-reset-requests", "6m0s"},
                                      {"x-ratelimit-remaining", "3"},
                                      {"x-ratelimit-over-input-utilization", "0.1"},
                                      {"content-type", "text/plain"}});
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].what, "input-tokens");
  EXPECT_EQ(limits[0].limit, "100");
  EXPECT_EQ(limits[0].remaining, "7");
  EXPECT_EQ(limits[1].what, "requests");
  EXPECT_EQ(limits[1].reset, "6m0s");
  EXPECT_EQ(limits[1].remaining, "3");
}

TEST(RateLimitsTest, AServerCannotFillTheMemoryWithThem) {
  net::Headers headers;
  for (int i = 0; i < 1000; ++i)
    headers.emplace_back("x-ratelimit-limit-" + std::to_string(i), "1");
  EXPECT_EQ(ReadRateLimits(headers).size(), 16U);
}

}  // namespace
}  // namespace stet::provider
