#include "provider/price.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

protocol::Usage Tokens(std::int64_t input, std::int64_t output) {
  protocol::Usage usage;
  usage.input = input;
  usage.output = output;
  return usage;
}

TEST(PriceTest, EveryKindOfTokenHasItsOwnPriceAndReasoningIsOutput) {
  const Prices prices{
      .input = 3'000'000, .output = 15'000'000, .cache_read = 300'000, .cache_write = 3'750'000};
  protocol::Usage usage = Tokens(1000, 100);
  usage.cache_read = 10'000;
  usage.cache_write = 200;
  usage.reasoning = 60;
  EXPECT_EQ(PriceOf(prices, usage), 3000 + 1500 + 3000 + 750);
}

TEST(PriceTest, ItIsRoundedToTheNearestMicroUnit) {
  EXPECT_EQ(PriceOf(Prices{.input = 499'999}, Tokens(1, 0)), 0);
  EXPECT_EQ(PriceOf(Prices{.input = 500'000}, Tokens(1, 0)), 1);
}

TEST(PriceTest, AnAttemptOfTheFallbackCostsWhatTheFallbackCosts) {
  const Model model{.prices = Prices{.input = 1'000'000}};
  const Model fallback{.prices = Prices{.input = 5'000'000}};
  std::vector<protocol::Attempt> attempts(3);
  attempts[0].usage = Tokens(10, 0);
  attempts[2].usage = Tokens(10, 0);
  attempts[2].model = "other/model";
  EXPECT_EQ(PriceOf(attempts, model, &fallback), 60);
  EXPECT_EQ(PriceOf(attempts, model, nullptr), std::nullopt);
}

TEST(PriceTest, AnUnknownPriceIsNotFree) {
  std::vector<protocol::Attempt> attempts(1);
  EXPECT_EQ(PriceOf(attempts, Model(), nullptr), 0) << "nothing was used";
  attempts[0].usage = Tokens(1, 1);
  EXPECT_EQ(PriceOf(attempts, Model(), nullptr), std::nullopt);
}

}  // namespace
}  // namespace stet::provider
