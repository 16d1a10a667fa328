#include "tool/diff.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "json/view.h"

namespace stet::tool {
namespace {

/// `before` with the changes made, out of the lines of `after`.
std::vector<std::string_view> Rebuilt(const std::vector<std::string_view>& before,
                                      const std::vector<std::string_view>& after,
                                      const std::vector<LineChange>& changes) {
  std::vector<std::string_view> lines;
  std::size_t at = 0;
  for (const LineChange& change : changes) {
    while (at < change.before) lines.push_back(before[at++]);
    EXPECT_EQ(lines.size(), change.after);
    for (std::size_t i = change.after; i < change.after_end; ++i) lines.push_back(after[i]);
    at = change.before_end;
  }
  while (at < before.size()) lines.push_back(before[at++]);
  return lines;
}

TEST(DiffTest, TheChangesLeadFromTheOldTextToTheNew) {
  Random random(3);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string_view> before;
    for (std::uint64_t i = random.Below(20); i > 0; --i)
      before.push_back(std::string_view("abcdef").substr(random.Below(6), 1));
    std::vector<std::string_view> after;
    for (const std::string_view line : before) {
      if (random.Below(4) == 0) after.push_back("new");
      if (random.Below(4) != 0) after.push_back(line);
    }
    EXPECT_EQ(Rebuilt(before, after, DiffLines(before, after)), after);
  }
}

TEST(DiffTest, TextsThatShareNothingAreOneChange) {
  const std::vector<std::string_view> before(5000, "a");
  const std::vector<std::string_view> after(4000, "b");
  EXPECT_EQ(DiffLines(before, after), (std::vector<LineChange>{{0, 5000, 0, 4000}}));
}

TEST(DiffTest, UnifiedHasThreeLinesOfContextAndJoinsHunksThatTouch) {
  const FileDiff diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
  EXPECT_EQ(diff.Unified(1000), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(diff.added(), 1);
  EXPECT_EQ(diff.removed(), 1);
  EXPECT_EQ(diff.Excerpt(10),
            "     2\t2\n     3\t3\n     4\t4\n     5\tfive\n     6\t6\n"
            "     7\t7\n     8\t8\n");
  EXPECT_EQ(diff.Excerpt(1), "     2\t2\n   ...\n");
}

TEST(DiffTest, AMissingFinalLineEndIsADifference) {
  EXPECT_EQ(FileDiff("a\n", "a").Unified(1000),
            "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of "
            "file\n");
  EXPECT_EQ(FileDiff("a", "a").Unified(1000), "");
}

TEST(DiffTest, LongDiffsAreCut) {
  const std::string text = FileDiff("", std::string(100'000, 'x')).Unified(1000);
  EXPECT_LT(text.size(), 1100U);
  EXPECT_TRUE(text.ends_with("(the rest is not shown)\n"));
  EXPECT_LT(FileDiff("", std::string(100'000, 'x')).Excerpt(10).size(), 500U);
}

TEST(DiffTest, DetailsAreForFaces) {
  const Raw details = FileDiff("a\n", "b\nc\n").Details();
  const JsonView json(details.text);
  EXPECT_EQ(json["added"].Int(), 2);
  EXPECT_EQ(json["removed"].Int(), 1);
  EXPECT_EQ(json["diff"].String(), "@@ -1,1 +1,2 @@\n-a\n+b\n+c\n");
}

}  // namespace
}  // namespace stet::tool
