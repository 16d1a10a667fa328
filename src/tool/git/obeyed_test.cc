#include "tool/git/obeyed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

using Paths = std::vector<std::string>;

TEST(ObeyedTest, HooksAndConfigurationOfTheRepositoryAndItsSubmodulesAreListed) {
  const TempDir temp;
  for (const char* folder : {".git/info", ".git/modules/libs/a", ".git/modules/b"})
    ASSERT_TRUE(MakeDirs(temp.Sub(folder)));
  for (const char* file :
       {".git/info/attributes", ".git/modules/libs/a/HEAD", ".git/modules/b/HEAD", "link"})
    ASSERT_TRUE(ReplaceFile(temp.Sub(file), "", Durable::kNo));
  const std::string git = temp.Sub(".git");
  EXPECT_EQ(ObeyedByGit(git),
            (Paths{git + "/hooks", git + "/config", git + "/info/attributes",
                   git + "/modules/b/hooks", git + "/modules/b/config",
                   git + "/modules/libs/a/hooks", git + "/modules/libs/a/config"}));
  EXPECT_EQ(ObeyedByGit(temp.Sub("link")), Paths{temp.Sub("link")});
  EXPECT_EQ(ObeyedByGit(temp.Sub("nothing")), Paths());
}

TEST(ObeyedTest, WhatAConfigurationNamesIsListed) {
  const TempDir temp;
  ASSERT_TRUE(MakeDirs(temp.Sub(".git")));
  ASSERT_TRUE(MakeDirs(temp.Sub("conf")));
  const auto put = [&](const char* name, const char* text) {
    ASSERT_TRUE(ReplaceFile(temp.Sub(name), text, Durable::kNo));
  };
  put(".git/config",
      "[core]\nhooksPath = tools/hooks\n[include]\npath = ../conf/more\n"
      "[includeIf \"onbranch:x\"]\npath = absent\n");
  put("conf/more", "[core]\nhooksPath = /dev/null\n[include]\npath = deeper\npath = more\n");
  put("conf/deeper", "[core]\nhooksPath = last\n");
  const std::string git = temp.Sub(".git");
  EXPECT_EQ(ObeyedByGit(git),
            (Paths{git + "/hooks", git + "/config", temp.Sub("tools/hooks"), temp.Sub("conf/more"),
                   temp.Sub("conf/deeper"), temp.Sub("last")}));
  EXPECT_EQ(NotYetObeyed({git}),
            (Paths{git + "/absent", git + "/commondir", git + "/config.worktree"}));
}

TEST(ObeyedTest, WhatALinkLeadsToIsObeyedAndSoIsTheLink) {
  const TempDir temp;
  ASSERT_TRUE(MakeDirs(temp.Sub("real/.git")));
  ASSERT_TRUE(MakeDirs(temp.Sub("a")));
  ASSERT_TRUE(MakeDirs(temp.Sub("b")));
  ASSERT_EQ(::symlink("../real/.git", temp.Sub("a/.git").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(temp.Sub("b/.git"), "gitdir: ../real/.git\n", Durable::kNo));
  const std::string real = temp.Sub("real/.git");
  for (const char* link : {"a/.git", "b/.git"})
    EXPECT_EQ(ObeyedByGit(temp.Sub(link)),
              (Paths{real + "/hooks", real + "/config", temp.Sub(link)}));
  EXPECT_EQ(RepositoriesAbove(temp.Sub("a/x/y"), temp.path()), Paths{temp.Sub("a/.git")});
  EXPECT_EQ(RepositoriesAbove("/elsewhere", temp.path()), Paths());
}

}  // namespace
}  // namespace stet::tool
