#include "tool/paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

class PathsTest : public testing::Test {
 protected:
  PathsTest() {
    EXPECT_TRUE(MakeDirs(temp_.Sub("p/src")));
    EXPECT_TRUE(MakeDirs(temp_.Sub("out")));
    EXPECT_TRUE(ReplaceFile(temp_.Sub("p/src/a"), "a", Durable::kNo));
    workspace_.project = temp_.Sub("p");
    workspace_.cwd = temp_.Sub("p/src");
  }
  std::string Message(std::string_view text) {
    const auto real = Resolve(text, workspace_);
    return real ? "resolved to " + real->path : real.error().message;
  }
  void Link(const std::string& target, std::string_view name) {
    ASSERT_EQ(::symlink(target.c_str(), temp_.Sub(name).c_str()), 0);
  }
  void ExpectPlace(std::string_view text, std::string_view path, bool in_project, bool exists) {
    const auto real = Resolve(text, workspace_);
    ASSERT_TRUE(real) << real.error().Text();
    EXPECT_EQ(*real, (RealPath{temp_.Sub(path), in_project, exists})) << real->path;
  }

  TempDir temp_;
  Workspace workspace_;
};

TEST_F(PathsTest, RelativePathsStartAtTheCwd) {
  ExpectPlace("a", "p/src/a", true, true);
  ExpectPlace("./..//src/./a", "p/src/a", true, true);
  ExpectPlace("..", "p", true, true);
  ExpectPlace(temp_.Sub("p/src/a"), "p/src/a", true, true);
}

TEST_F(PathsTest, TheTailThatDoesNotExistIsKept) {
  ExpectPlace("new/deep/b", "p/src/new/deep/b", true, false);
  ExpectPlace("new/../../c", "p/c", true, false);
  ExpectPlace("new/deep/..", "p/src/new", true, false);
}

TEST_F(PathsTest, PathsThatLeaveTheProjectSaySo) {
  ExpectPlace("../../out", "out", false, true);
  ExpectPlace(temp_.Sub("px"), "px", false, false);
  EXPECT_EQ(Resolve("../../../../../../../../etc", workspace_)->path, "/etc");
}

TEST_F(PathsTest, SymlinksAreFollowedAlsoOnesThatDangle) {
  Link("../../out", "p/src/away");
  Link(temp_.Sub("out/none"), "p/dangling");
  ExpectPlace("away/x", "out/x", false, false);
  ExpectPlace("away/../p/src/a", "p/src/a", true, true);
  ExpectPlace("../dangling", "out/none", false, false);
}

TEST_F(PathsTest, ACircleOfSymlinksIsRefused) {
  Link("two", "p/one");
  Link("one", "p/two");
  EXPECT_NE(Message("../one").find("too many symlinks"), std::string::npos);
}

TEST_F(PathsTest, WhatIsNoPathToAFileIsRefused) {
  Link("/proc/self", "p/self");
  for (const std::string_view text :
       {std::string_view(), std::string_view("a\0b", 3), std::string_view("~/a"),
        std::string_view("~root/a"), std::string_view("/proc/self/environ"),
        std::string_view("/sys"), std::string_view("/dev/null"), std::string_view("../self/root"),
        std::string_view("/tmp/../proc/1"), std::string_view("a/b")})
    EXPECT_FALSE(Resolve(text, workspace_)) << text;
  EXPECT_FALSE(Resolve(std::string(5000, 'x'), workspace_));
  EXPECT_NE(Message("a/b").find("is a file, not a folder"), std::string::npos);
}

TEST_F(PathsTest, PathsBelowTheCwdAreShownShort) {
  EXPECT_EQ(Shown(temp_.Sub("p/src/a"), workspace_), "a");
  EXPECT_EQ(Shown(temp_.Sub("p/b"), workspace_), temp_.Sub("p/b"));
  EXPECT_EQ(Shown(temp_.Sub("p/src"), workspace_), temp_.Sub("p/src"));
}

TEST_F(PathsTest, ANameThatOnlyStartsLikeTheFolderIsOutside) {
  EXPECT_TRUE(IsInside("/a/b", "/a"));
  EXPECT_TRUE(IsInside("/a", "/a"));
  EXPECT_TRUE(IsInside("/a", "/"));
  EXPECT_FALSE(IsInside("/ab", "/a"));
}

}  // namespace
}  // namespace stet::tool
