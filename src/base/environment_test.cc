#include "base/environment.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(EnvironmentTest, GivesTheValueBehindTheFirstEqualsSign) {
  const Environment environment({"A=1", "B=x=y", "C="});
  EXPECT_EQ(environment.Get("A"), "1");
  EXPECT_EQ(environment.Get("B"), "x=y");
  EXPECT_EQ(environment.Get("C"), "");
  EXPECT_EQ(environment.Get("D"), "");
  EXPECT_EQ(environment.Get(""), "");
}

TEST(EnvironmentTest, LeavesOutWhatIsNoVariable) {
  const Environment environment({"A=1", "nothing", "=x", std::string("B=1\0C", 5)});
  EXPECT_EQ(environment.variables(), std::vector<std::string>{"A=1"});
}

TEST(EnvironmentTest, IsGivenWithoutWhatIsNamed) {
  const Environment environment({"A=1", "B=2", "BB=3"});
  EXPECT_EQ(environment.Without({"B"}), (std::vector<std::string>{"A=1", "BB=3"}));
}

TEST(EnvironmentTest, OfTheProcessIsWhatItWasStartedWith) {
  ::setenv("STET_ENVIRONMENT_TEST", "yes", 1);
  EXPECT_EQ(Environment::OfProcess().Get("STET_ENVIRONMENT_TEST"), "yes");
  ::unsetenv("STET_ENVIRONMENT_TEST");
}

}  // namespace
}  // namespace stet
