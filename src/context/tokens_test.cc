#include "context/tokens.h"

#include <gtest/gtest.h>

namespace stet::context {
namespace {

TEST(TokensTest, BeforeAnyReportItIsARuleOfThumb) {
  const Tokens tokens;
  EXPECT_EQ(tokens.Of({.bytes = 4000, .images = 0}), 1000);
  EXPECT_GT(tokens.Of({.bytes = 4000, .images = 1}), 2000);
  EXPECT_EQ(tokens.error_permille(), std::nullopt);
  EXPECT_EQ(tokens.reported(), std::nullopt);
}

TEST(TokensTest, AReportCountsAndWhatIsNewIsEstimatedByIt) {
  Tokens tokens;
  tokens.Took({.bytes = 4000, .images = 0}, 2000);
  EXPECT_EQ(tokens.Of({.bytes = 4000, .images = 0}), 2000);
  EXPECT_EQ(tokens.Of({.bytes = 6000, .images = 0}), 3000);
  EXPECT_EQ(tokens.Of({.bytes = 2000, .images = 0}), 1000);
  EXPECT_EQ(tokens.BytesOf(1000), 2000);
}

TEST(TokensTest, TheErrorIsThatOfTheLastEstimate) {
  Tokens tokens;
  tokens.Took({.bytes = 4000, .images = 0}, 2000);
  EXPECT_EQ(tokens.error_permille(), 500);
  tokens.Took({.bytes = 6000, .images = 0}, 3000);
  EXPECT_EQ(tokens.error_permille(), 0);
}

TEST(TokensTest, AReportThatMakesNoSenseIsNotBelieved) {
  Tokens tokens;
  tokens.Took({.bytes = 4000, .images = 0}, 0);
  tokens.Took({.bytes = 4000, .images = 0}, -5);
  EXPECT_EQ(tokens.reported(), std::nullopt);
  tokens.Took({.bytes = 4000, .images = 0}, 100'000);
  EXPECT_EQ(tokens.Of({.bytes = 8000, .images = 0}), 104'000) << "the scale has an end";
}

}  // namespace
}  // namespace stet::context
