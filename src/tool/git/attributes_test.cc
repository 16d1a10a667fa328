#include "tool/git/attributes.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "tool/git/git_fixture.h"

namespace stet::tool {
namespace {

bool Rewrites(std::string_view top, std::string_view path, std::string_view own = "") {
  GitAttributes attributes(false);
  attributes.AddFolder("", ParseGitAttributes(top, true).value());
  attributes.SetOwn(ParseGitAttributes(own, true).value());
  attributes.Settle();
  return attributes.Rewrites(path);
}

TEST(GitAttributesTest, OnlyWhatChangesBytesCounts) {
  EXPECT_TRUE(Rewrites("*.psd filter=lfs diff=lfs -text\n", "a/b.psd"));
  EXPECT_FALSE(Rewrites("*.psd filter=lfs\n", "a/b.png"));
  EXPECT_TRUE(Rewrites("* ident\n", "a"));
  EXPECT_TRUE(Rewrites("*.txt working-tree-encoding=UTF-16\n", "a.txt"));
  EXPECT_FALSE(Rewrites("* text=auto eol=lf\n*.bin binary\n", "a.bin"));
  EXPECT_FALSE(Rewrites("", "a"));
}

TEST(GitAttributesTest, TheLastLineAndTheNearestFileCount) {
  EXPECT_FALSE(Rewrites("* filter=x\n*.txt -filter\n", "a.txt"));
  EXPECT_TRUE(Rewrites("*.txt -filter\n* filter=x\n", "a.txt"));
  EXPECT_FALSE(Rewrites("* filter=x\n*.txt !filter\n", "a.txt"));
  EXPECT_FALSE(Rewrites("* filter=x\n", "a", "* !filter\n"));
  EXPECT_TRUE(Rewrites("* -filter\n", "a", "a filter=x\n"));
  GitAttributes attributes(false);
  attributes.AddFolder("", ParseGitAttributes("/d/x filter=y\nd/* filter=y\n", true).value());
  attributes.AddFolder("d/e", ParseGitAttributes("/x -filter\ny filter=z\n", false).value());
  attributes.Settle();
  EXPECT_TRUE(attributes.Rewrites("d/x"));
  EXPECT_FALSE(attributes.Rewrites("d/e/x"));
  EXPECT_TRUE(attributes.Rewrites("d/e/f/y"));
  EXPECT_FALSE(attributes.Rewrites("y"));
}

TEST(GitAttributesTest, MacrosStandForWhatTheyMean) {
  EXPECT_TRUE(Rewrites("[attr]big filter=lfs -text\n*.iso big\n", "x.iso"));
  EXPECT_FALSE(Rewrites("[attr]big filter=lfs\n*.iso -big\n", "x.iso"));
  EXPECT_TRUE(Rewrites("[attr]a b\n[attr]b ident\n* a\n", "x"));
  EXPECT_TRUE(Rewrites("[attr]binary filter=x\n* binary\n", "x"));
  // Only a file at the top may define some.
  GitAttributes attributes(false);
  attributes.AddFolder("", ParseGitAttributes("", true).value());
  attributes.AddFolder("d", ParseGitAttributes("[attr]m ident\n* m\n", false).value());
  attributes.Settle();
  EXPECT_FALSE(attributes.Rewrites("d/x"));
}

TEST(GitAttributesTest, MacrosInACircleEnd) {
  EXPECT_FALSE(Rewrites("[attr]a b\n[attr]b a\n* a\n", "x"));
}

TEST(GitAttributesTest, WhatIsDoubtfulCounts) {
  EXPECT_FALSE(ParseGitAttributes("\"no end filter=x\n", true));
  EXPECT_FALSE(ParseGitAttributes("[[:alpha:]]* filter=x\n", true));
  EXPECT_FALSE(ParseGitAttributes(std::string(3000, 'x') + " filter=x\n", true));
  GitAttributes attributes(false);
  attributes.Doubt("d");
  attributes.Settle();
  EXPECT_TRUE(attributes.Rewrites("d/e/x"));
  EXPECT_FALSE(attributes.Rewrites("dd"));
}

TEST(GitAttributesTest, OfSeveralUsersFilesAnyCounts) {
  GitAttributes attributes(false);
  attributes.AddUsers(ParseGitAttributes("* -filter\n", true).value());
  attributes.AddUsers(ParseGitAttributes("*.x filter=y\n", true).value());
  attributes.Settle();
  EXPECT_TRUE(attributes.Rewrites("a.x"));
  EXPECT_FALSE(attributes.Rewrites("a.y"));
}

TEST(GitAttributesTest, CaseCountsUnlessTheRepositorySaysOtherwise) {
  for (const bool ignore : {false, true}) {
    GitAttributes attributes(ignore);
    attributes.AddFolder("", ParseGitAttributes("*.PSD filter=x\n", true).value());
    attributes.Settle();
    EXPECT_EQ(attributes.Rewrites("a.psd"), ignore);
  }
}

/// git itself says what applies.
class GitAttributesOracleTest : public GitFixture {
 protected:
  std::string RandomLine(Random& random) {
    constexpr std::array kPatterns = {
        "*",     "*.txt", "a",        "/a",      "a/*",        "a/**",  "**/b",    "b/",
        "a/b/c", "[ab]*", "[!a].txt", "\"b\"",   "\"a\\142\"", "c.t?t", "**",      "a/**/c.txt",
        "!a",    "\\a",   "a/b",      "/**/c.*", "[a-c]",      "b*",    "[attr]m", "[attr]n",
        "#a",    " a",    "x y",      "*/*/*",   "a*/**/b*",   "[]a]*", "*\\.txt", "**.txt"};
    constexpr std::array kWords = {"filter=x",
                                   "-filter",
                                   "!filter",
                                   "filter",
                                   "ident",
                                   "-ident",
                                   "!ident",
                                   "m",
                                   "-m",
                                   "n",
                                   "!m",
                                   "binary",
                                   "text=auto",
                                   "working-tree-encoding=UTF-16",
                                   "-working-tree-encoding",
                                   "bad*name",
                                   "m=3",
                                   "-",
                                   "[attr]m",
                                   "-filter=x"};
    std::string line = kPatterns[random.Below(kPatterns.size())];
    for (std::size_t words = random.Below(4); words > 0; --words)
      line += std::string(random.Below(5) == 0 ? "\t" : " ") + kWords[random.Below(kWords.size())];
    return line + (random.Below(9) == 0 ? "\r\n" : "\n");
  }
  std::string RandomText(Random& random) {
    std::string text;
    for (std::size_t lines = random.Below(6); lines > 0; --lines) text += RandomLine(random);
    return text;
  }
};

TEST_F(GitAttributesOracleTest, SaysWhatGitSays) {
  const std::vector<std::string> paths = {"a",         "b",         "c.txt",   "a/b", "a/c.txt",
                                          "a/b/c",     "a/b/c.txt", "a/b/b/b", "b/a", "b/b.txt",
                                          "b/a/c.txt", "c/b",       "m.txt",   "]",   "a.txt"};
  Git("init -q");
  std::string list;
  for (const std::string& path : paths) list += path + "\n";
  Put("list", list);
  Random random(11);
  int applied = 0;
  for (int round = 0; round < 60; ++round) {
    GitAttributes attributes(false);
    std::string all;
    const auto use = [&](const std::string& file, bool macros) {
      const std::string text = RandomText(random);
      Put(file, text);
      all += file + ":\n" + text;
      return ParseGitAttributes(text, macros).value();
    };
    attributes.SetOwn(use(".git/info/attributes", true));
    attributes.AddFolder("", use(".gitattributes", true));
    // Folders that the paths name need not be there for git.
    attributes.AddFolder("a", use("a/.gitattributes", false));
    attributes.AddFolder("a/b", use("a/b/.gitattributes", false));
    attributes.Settle();
    const std::string said =
        Git("check-attr --stdin filter ident working-tree-encoding <list 2>/dev/null");
    for (const std::string& path : paths) {
      bool expected = false;
      for (const std::string_view line : SplitLines(said)) {
        const bool about = line.starts_with(path + ": ");
        expected =
            expected || (about && !line.ends_with(": unspecified") && !line.ends_with(": unset"));
      }
      applied += expected ? 1 : 0;
      EXPECT_EQ(attributes.Rewrites(path), expected) << path << "\n" << all << said;
    }
  }
  EXPECT_GT(applied, 100);
}

}  // namespace
}  // namespace stet::tool
