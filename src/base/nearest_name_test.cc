#include "base/nearest_name.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(NearestNameTest, ABeginningOrTwoWrongLettersAreNear) {
  const std::vector<std::string_view> names = {"sessions", "setup", "vault"};
  EXPECT_EQ(NearestName("session", names), "sessions");
  EXPECT_EQ(NearestName("va", names), "vault");
  EXPECT_EQ(NearestName("vuatl", names), "vault");
  EXPECT_EQ(NearestName("build", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName("a", {"acp"}), "");
  EXPECT_EQ(NearestName("to", {"rm"}), "") << "no letter of it is right";
}

TEST(NearestNameTest, LettersThatChangedPlacesAreOneMistake) {
  EXPECT_EQ(LetterDistance("ab", "ba"), 1U);
  EXPECT_EQ(LetterDistance("abc", "abd"), 1U);
  EXPECT_EQ(LetterDistance("", "abc"), 3U);
}

}  // namespace
}  // namespace stet
