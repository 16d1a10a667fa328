#include "tool/git/restorable.h"

#include <gtest/gtest.h>

#include "tool/git/git_fixture.h"

namespace stet::tool {
namespace {

class RestorableTest : public GitFixture {
 protected:
  [[nodiscard]] bool Restorable(const std::string& name) const {
    return IsRestorable(Read(), root_, root_ + "/" + name);
  }
};

TEST_F(RestorableTest, WhatGitHasAsItIsCanBeHadAgain) {
  Put("a.txt", "one\n");
  Put("src/deep/b.txt", "two\n");
  Put("src/deep/bc.txt", "three\n");
  Git("init -q && git add -A");
  EXPECT_TRUE(Restorable("a.txt"));
  EXPECT_TRUE(Restorable("src"));
  EXPECT_TRUE(Restorable("not-there"));
  Put("src/deep/new.txt", "x");
  EXPECT_FALSE(Restorable("src")) << "one file is not in it";
  EXPECT_FALSE(Restorable("src/deep/new.txt"));
  ASSERT_TRUE(Remove(root_ + "/src/deep/new.txt"));
  Put("a.txt", "six\n");
  EXPECT_FALSE(Restorable("a.txt")) << "changed since";
  EXPECT_FALSE(Restorable("."));
}

TEST_F(RestorableTest, ALinkIsWhereItLeads) {
  ASSERT_TRUE(MakeDirs(root_ + "/src"));
  ASSERT_EQ(::symlink("nowhere", (root_ + "/src/link").c_str()), 0);
  Git("init -q && git add -A");
  EXPECT_TRUE(Restorable("src"));
  ShellIn(root_, "ln -sfn elsewhere src/link");
  EXPECT_FALSE(Restorable("src"));
}

TEST_F(RestorableTest, WithoutARepositoryNothingCan) {
  Put("a.txt", "one\n");
  EXPECT_FALSE(Restorable("a.txt"));
  EXPECT_FALSE(IsRestorable(Read(), "", "/etc/passwd"));
}

}  // namespace
}  // namespace stet::tool
