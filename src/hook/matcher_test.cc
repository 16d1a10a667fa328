#include "hook/matcher.h"

#include <gtest/gtest.h>

namespace stet::hook {
namespace {

bool Matches(std::string_view matcher, std::string_view subject) {
  const Result<Matcher> made = Matcher::From(matcher);
  EXPECT_TRUE(made) << matcher;
  return made && made->Matches(subject);
}

TEST(MatcherTest, NothingAndAStarMatchEverything) {
  EXPECT_TRUE(Matches("", "Bash"));
  EXPECT_TRUE(Matches("*", "Bash"));
}

TEST(MatcherTest, NamesMatchExactly) {
  EXPECT_TRUE(Matches("Bash", "Bash"));
  EXPECT_FALSE(Matches("Bash", "BashTask"));
  EXPECT_FALSE(Matches("bash", "Bash"));
  EXPECT_TRUE(Matches("Edit|Write", "Write"));
  EXPECT_FALSE(Matches("Edit|Write", "Edit|Write"));
}

TEST(MatcherTest, AnythingElseIsAnExpressionLookedForAnywhere) {
  EXPECT_TRUE(Matches("mcp__.*", "mcp__files__read"));
  EXPECT_TRUE(Matches("^(Edit|Write)$", "Edit"));
  EXPECT_TRUE(Matches("Notebook.*", "Notebook"));
  EXPECT_FALSE(Matches("^Edit.", "Edit"));
}

TEST(MatcherTest, AnExpressionThatIsNoneIsAnError) {
  EXPECT_FALSE(Matcher::From("(Edit"));
  EXPECT_FALSE(Matcher::From("(a)\\1"));
}

}  // namespace
}  // namespace stet::hook
