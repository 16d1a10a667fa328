#include "base/random.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(Random, TheSameSeedGivesTheSameNumbersForEver) {
  // Computed by an independent xoshiro256++ seeded by splitmix64.
  Random random(42);
  EXPECT_EQ(random.Next(), 0xd0764d4f4476689fu);
  EXPECT_EQ(random.Next(), 0x519e4174576f3791u);
  EXPECT_EQ(random.Next(), 0xfbe07cfb0c24ed8cu);
}

TEST(Random, BelowStaysBelowAndReachesEveryValue) {
  Random random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random.Below(7);
    ASSERT_LT(value, 7u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 7u);
}

TEST(Random, BelowIsFairForRangesThatDoNotDivideTheWhole) {
  // Taking the remainder alone would put 2/3 of the values into the lower half of this range.
  constexpr std::uint64_t kRange = 3u * (std::uint64_t{1} << 62);
  constexpr int kDraws = 3000;
  Random random(7);
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.Below(kRange) < kRange / 2;
  EXPECT_NEAR(low, 0.5 * kDraws, 0.1 * kDraws);
}

TEST(Random, BelowZeroAndBelowOneAreZero) {
  Random random(1);
  EXPECT_EQ(random.Below(0), 0u);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(Random, SystemSeedsDiffer) { EXPECT_NE(SystemSeed(), SystemSeed()); }

TEST(Random, EveryThreadHasItsOwnGenerator) {
  const std::uint64_t here = ProcessRandom().Next();
  std::uint64_t there = here;
  std::thread([&] { there = ProcessRandom().Next(); }).join();
  EXPECT_NE(here, there);
}

TEST(RandomName, UsesAllThirtyTwoLettersAndNoOther) {
  Random random(3);
  const std::string name = RandomName(random, 4096);
  EXPECT_EQ(name.size(), 4096u);
  EXPECT_EQ(name.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz"), std::string::npos);
  EXPECT_EQ(std::set<char>(name.begin(), name.end()).size(), 32u);
}

}  // namespace
}  // namespace stet
