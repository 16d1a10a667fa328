#include "base/ignore.h"

#include <gtest/gtest.h>

#include "base/wildcard.h"

namespace stet {
namespace {

using Verdict = IgnoreFile::Verdict;

Verdict Judge(std::string_view rules, std::string_view path, bool is_dir = false) {
  return IgnoreFile(rules).Judge(PathParts(path), is_dir);
}

TEST(IgnoreTest, RulesAreReadAsGitReadsThem) {
  EXPECT_EQ(Judge("*.o", "x/y/a.o"), Verdict::kIgnored);
  EXPECT_EQ(Judge("/a", "a"), Verdict::kIgnored);
  EXPECT_EQ(Judge("/a", "x/a"), Verdict::kNothing);
  EXPECT_EQ(Judge("x/a", "y/x/a"), Verdict::kNothing);
  EXPECT_EQ(Judge("build/", "x/build", true), Verdict::kIgnored);
  EXPECT_EQ(Judge("build/", "x/build", false), Verdict::kNothing);
  EXPECT_EQ(Judge("a/**/z", "a/z"), Verdict::kIgnored);
  EXPECT_EQ(Judge("a/**/z", "a/b/c/z"), Verdict::kIgnored);
  EXPECT_EQ(Judge("a/**", "a/b"), Verdict::kIgnored);
  EXPECT_EQ(Judge("a/**", "a", true), Verdict::kNothing);
  EXPECT_EQ(Judge("**/z", "a/b/z"), Verdict::kIgnored);
}

TEST(IgnoreTest, TheLastRuleDecides) {
  EXPECT_EQ(Judge("*.o\n!keep.o\n", "keep.o"), Verdict::kKept);
  EXPECT_EQ(Judge("!keep.o\n*.o\n", "keep.o"), Verdict::kIgnored);
}

TEST(IgnoreTest, CommentsBlanksAndEscapes) {
  EXPECT_EQ(Judge("# a\n\n   \n", "a"), Verdict::kNothing);
  EXPECT_EQ(Judge("a  \r\n", "a"), Verdict::kIgnored);
  EXPECT_EQ(Judge("\\#a\n", "#a"), Verdict::kIgnored);
  EXPECT_EQ(Judge("\\!a\n", "!a"), Verdict::kIgnored);
  EXPECT_EQ(Judge("a\\ \n", "a "), Verdict::kIgnored);
  EXPECT_EQ(Judge("/\n!\n", "a"), Verdict::kNothing);
}

}  // namespace
}  // namespace stet
