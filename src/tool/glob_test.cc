#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/tool_fixture.h"
#include "tool/walk.h"

namespace stet::tool {
namespace {

class GlobTest : public ToolTest {
 protected:
  GlobTest() {
    for (const char* name : {"b.cc", "a/x.cc", "a.cc", "a/y.h", "a/deep/z.cc", ".hidden/h.cc",
                             ".git/config.cc", "build/o.cc", "a/skip.cc", "a/keep.cc"})
      Put(name, "");
    Put(".gitignore", "build/\n");
    Put("a/.gitignore", "skip.cc\n");
  }
  std::string Glob(std::string_view json, bool is_error = false) {
    return TextOfRun("Glob", Raw{std::string(json)}, is_error);
  }
};

TEST_F(GlobTest, FilesAreSortedByPathWithoutWhatGitIgnores) {
  EXPECT_EQ(Glob(R"({"pattern":"*.cc"})"),
            ".hidden/h.cc\na/deep/z.cc\na/keep.cc\na/x.cc\na.cc\nb.cc\n");
  EXPECT_EQ(Glob(R"({"pattern":"a/*.{cc,h}"})"), "a/keep.cc\na/x.cc\na/y.h\n");
  EXPECT_EQ(Glob(R"({"pattern":"*.rs"})"), "(No files match.)");
}

TEST_F(GlobTest, AFolderIsSearchedWithTheRulesAboveIt) {
  Put(".gitignore", "build/\n/a/y.h\nz.*\n");
  EXPECT_EQ(Glob(R"({"pattern":"**","path":"a"})"), "a/.gitignore\na/keep.cc\na/x.cc\n");
  workspace_.cwd = Path("a");
  EXPECT_EQ(Glob(R"({"pattern":"*.cc"})"), "keep.cc\nx.cc\n");
}

TEST_F(GlobTest, PagesAddUpToTheWhole) {
  EXPECT_EQ(
      Glob(R"({"pattern":"*.cc","head_limit":4})"),
      ".hidden/h.cc\na/deep/z.cc\na/keep.cc\na/x.cc\n(More files match. Go on with offset=4.)\n");
  EXPECT_EQ(Glob(R"({"pattern":"*.cc","head_limit":4,"offset":4})"), "a.cc\nb.cc\n");
  EXPECT_EQ(Glob(R"({"pattern":"*.cc","offset":6})"), "(No more files match.)");
}

TEST_F(GlobTest, SymlinkedFoldersAreNotFollowed) {
  ASSERT_EQ(::symlink("a", Path("link").c_str()), 0);
  ASSERT_EQ(::symlink("..", Path("a/up").c_str()), 0);
  ASSERT_EQ(::symlink("a.cc", Path("c.cc").c_str()), 0);
  ASSERT_EQ(::mkfifo(Path("pipe.cc").c_str(), 0600), 0);
  EXPECT_EQ(Glob(R"({"pattern":"**"})"),
            ".gitignore\n.hidden/h.cc\na/.gitignore\na/deep/z.cc\na/keep.cc\na/x.cc\na/y.h\na.cc\n"
            "b.cc\nc.cc\n");
}

TEST_F(GlobTest, PathsOutsideTheCwdAreShownWhole) {
  ASSERT_TRUE(MakeDirs(temp_.Sub("other")));
  ASSERT_TRUE(ReplaceFile(temp_.Sub("other/f.cc"), "", Durable::kNo));
  EXPECT_EQ(TextOfRun("Glob", Strings({{"pattern", "*.cc"}, {"path", temp_.Sub("other")}})),
            temp_.Sub("other/f.cc") + "\n");
}

TEST_F(GlobTest, WhatIsNoFolderOrNoPatternIsRefused) {
  Glob(R"({"pattern":"*","path":"a.cc"})", true);
  Glob(R"({"pattern":"*","path":"none"})", true);
  Glob(R"({"pattern":"*","path":"/proc"})", true);
  Glob(R"({"pattern":""})", true);
}

TEST_F(GlobTest, ACancelledWalkEnds) {
  cancel_.Cancel();
  Glob(R"({"pattern":"*"})", true);
  EXPECT_EQ(
      WalkFiles({Path(""), Path("")}, cancel_.token(), [](auto&&...) { return true; }).error().code,
      Code::kCancelled);
}

}  // namespace
}  // namespace stet::tool
