#include "tool/excluded.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

class ExcludedTest : public testing::Test {
 protected:
  ExcludedTest() {
    for (const char* name : {"a.txt", ".env", "deep/.env", "deep/b.txt", "private/x/y",
                             ".git/private/z", "build/private"})
      Put(name);
  }
  void Put(const std::string& name) {
    ASSERT_TRUE(MakeDirs(ParentDir(At(name))));
    ASSERT_TRUE(ReplaceFile(At(name), "x", Durable::kNo));
  }
  [[nodiscard]] std::string At(const std::string& name) const { return dir_.path() + "/" + name; }
  [[nodiscard]] std::vector<std::string> Find(const std::string& patterns) const {
    std::vector<std::string> paths = FindExcluded(dir_.path(), IgnoreFile(patterns)).paths;
    for (std::string& path : paths) path.erase(0, dir_.path().size() + 1);
    std::ranges::sort(paths);
    return paths;
  }

  TempDir dir_;
};

using Paths = std::vector<std::string>;

TEST_F(ExcludedTest, FilesAndWholeFoldersAreFoundWhereverTheyAre) {
  EXPECT_EQ(Find(".env\nprivate/\n"), (Paths{".env", "build/private", "deep/.env", "private"}));
  EXPECT_EQ(Find("/.env"), Paths{".env"});
  EXPECT_EQ(Find("*.txt\n!b.txt"), Paths{"a.txt"});
  EXPECT_EQ(Find(""), Paths{});
}

TEST_F(ExcludedTest, EachIsCoveredByWhatPolicyAsks) {
  const IgnoreFile exclude(".env\nprivate/\ndeep/*.txt\n");
  for (const std::string& path : Find(".env\nprivate/\ndeep/*.txt\n"))
    EXPECT_TRUE(exclude.Covers(path)) << path;
}

TEST_F(ExcludedTest, ALinkIsPassedOver) {
  ASSERT_EQ(::symlink("a.txt", At("secret").c_str()), 0);
  EXPECT_EQ(Find("secret"), Paths{});
}

TEST_F(ExcludedTest, WhatIsMoreThanTheLimitsIsSaid) {
  const IgnoreFile exclude(".env");
  EXPECT_TRUE(FindExcluded(dir_.path(), exclude).all);
  EXPECT_FALSE(FindExcluded(dir_.path(), exclude, {.paths = 1}).all);
  EXPECT_FALSE(FindExcluded(dir_.path(), exclude, {.entries = 3}).all);
  EXPECT_FALSE(FindExcluded(dir_.path(), exclude, {.time = std::chrono::milliseconds(-1)}).all);
}

TEST_F(ExcludedTest, EveryNameOfAnExcludedFileIsFound) {
  ASSERT_EQ(::link(At(".env").c_str(), At("deep/notes").c_str()), 0);
  ASSERT_EQ(::link(At("private/x/y").c_str(), At("plain").c_str()), 0);
  ASSERT_EQ(::link(At("a.txt").c_str(), At("b.txt").c_str()), 0);
  EXPECT_EQ(Find(".env\nprivate/\n"),
            (Paths{".env", "build/private", "deep/.env", "deep/notes", "plain", "private"}));
  EXPECT_EQ(ExcludedWithOtherNames(dir_.path(), IgnoreFile(".env\nprivate/\n")).size(), 2U);
  EXPECT_TRUE(ExcludedWithOtherNames(dir_.path(), IgnoreFile("*.md")).empty());
}

TEST_F(ExcludedTest, SeveralPlacesAreOneListWithoutWhatLiesInAnother) {
  const auto patterns = std::make_shared<const IgnoreFile>(".env");
  const ExcludedPaths found = FindExcluded(
      {{dir_.path(), patterns}, {At("deep"), nullptr}, {At("absent"), nullptr}, {"/", nullptr}});
  EXPECT_EQ(found.paths, (Paths{At(".env"), At("deep")}));
  EXPECT_TRUE(found.all);
}

}  // namespace
}  // namespace stet::tool
