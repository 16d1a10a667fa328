#include "tool/near_match.h"

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

TEST(NearMatchTest, BlanksThatDifferAreNamedWithTheirLine) {
  EXPECT_EQ(ExplainNoMatch("a\n\tint x;\n\tint y;\n", "    int x;\n    int y;\n"),
            "It nearly matches at line 2, but line 2 differs in blanks: the file has `\\tint x;`, "
            "you gave `    int x;`.");
}

TEST(NearMatchTest, TheLineThatDiffersIsNamed) {
  EXPECT_EQ(ExplainNoMatch("a\nb\nc\nd\n", "b\nX\nd"),
            "It nearly matches at line 2, but line 3 differs: the file has `c`, you gave `X`.");
}

TEST(NearMatchTest, ALineThatBeginsAlikeIsNamed) {
  EXPECT_EQ(ExplainNoMatch("int main() {\nreturn 0;\n", "return 00;"),
            "It nearly matches at line 2, but line 2 differs: the file has `return 0;`, you gave "
            "`return 00;`.");
}

TEST(NearMatchTest, LineNumbersAreRecognised) {
  EXPECT_NE(ExplainNoMatch("a\nb\n", "     1\ta\n     2\tb\n").find("leave them out"),
            std::string::npos);
}

TEST(NearMatchTest, TextThatGoesOnBehindTheFileSaysSo) {
  EXPECT_EQ(ExplainNoMatch("a\nb\n", "b\nc\n"),
            "It nearly matches at line 2, but the file ends at line 2.");
  EXPECT_EQ(ExplainNoMatch("a\nb", "a\nb\n"),
            "It nearly matches at line 1, but does not end there: look at the line ends.");
}

TEST(NearMatchTest, NothingAlikeSaysSo) {
  EXPECT_EQ(ExplainNoMatch("a\nb\n", "something else"),
            "Nothing in the file comes near it. Read the file again.");
  EXPECT_EQ(ExplainNoMatch("", "x"), "Nothing in the file comes near it. Read the file again.");
}

}  // namespace
}  // namespace stet::tool
