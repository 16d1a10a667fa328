#include "base/beneath.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temp_dir.h"

namespace stet {
namespace {

/// By the one call of the kernel, and by the walk where there is none.
class BeneathTest : public testing::TestWithParam<bool> {
 protected:
  BeneathTest() {
    WalkBeneathForTests(GetParam());
    EXPECT_TRUE(MakeDirs(root_ + "/a/b"));
    EXPECT_TRUE(MakeDirs(temp_.Sub("outside")));
    EXPECT_TRUE(ReplaceFile(temp_.Sub("outside/f"), "theirs", Durable::kNo));
  }
  ~BeneathTest() override { WalkBeneathForTests(false); }

  [[nodiscard]] Code OpenCode(const std::string& path, Parents parents = Parents::kMustExist) {
    const Result<Beneath> opened = Beneath::Open(root_, path, parents);
    EXPECT_FALSE(opened) << path;
    return opened ? Code::kIo : opened.error().code;
  }

  TempDir temp_;
  std::string root_ = temp_.Sub("project");
};

INSTANTIATE_TEST_SUITE_P(Kernels, BeneathTest, testing::Bool());

TEST_P(BeneathTest, AFileIsWrittenReadAndRemovedInTheFolderThatWasFound) {
  const std::string path = root_ + "/a/b/f";
  const Result<Beneath> file = Beneath::Open(root_, path);
  ASSERT_TRUE(file) << file.error().Text();
  EXPECT_EQ(file->Stat().error().code, Code::kNotFound);
  ASSERT_TRUE(file->Write("one", 0640));
  EXPECT_EQ(file->Read()->bytes, "one");
  ASSERT_EQ(::rename((root_ + "/a").c_str(), (root_ + "/moved").c_str()), 0);
  ASSERT_EQ(::symlink(temp_.Sub("outside").c_str(), (root_ + "/a").c_str()), 0);
  ASSERT_TRUE(file->Write("two", 0640));
  EXPECT_EQ(*ReadFile(root_ + "/moved/b/f"), "two");
  EXPECT_EQ(ListDir(root_ + "/moved/b")->size(), 1U) << "no temporary file is left";
  ASSERT_TRUE(file->Remove());
  EXPECT_EQ(file->Remove().error().code, Code::kNotFound);
  EXPECT_EQ(*ReadFile(temp_.Sub("outside/f")), "theirs");
}

TEST_P(BeneathTest, NoLinkIsFollowedWhereverItStands) {
  ASSERT_EQ(::symlink(temp_.Sub("outside").c_str(), (root_ + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("../../outside/f", (root_ + "/a/f").c_str()), 0);
  EXPECT_EQ(OpenCode(root_ + "/link/f"), Code::kConflict);
  EXPECT_EQ(OpenCode(root_ + "/link/new/f", Parents::kMake), Code::kConflict);
  EXPECT_FALSE(Exists(temp_.Sub("outside/new")));
  const Result<Beneath> at = Beneath::Open(root_, root_ + "/a/f");
  ASSERT_TRUE(at);
  EXPECT_FALSE(at->Stat()->is_file);
  EXPECT_EQ(at->Read().error().code, Code::kInvalid);
  EXPECT_EQ(at->Write("x", 0600).error().code, Code::kInvalid);
  EXPECT_EQ(*ReadFile(temp_.Sub("outside/f")), "theirs");
  // Nor one in the way to the root itself.
  ASSERT_EQ(::symlink(root_.c_str(), temp_.Sub("by").c_str()), 0);
  EXPECT_EQ(Beneath::Open(temp_.Sub("by"), temp_.Sub("by") + "/a/x").error().code, Code::kConflict);
}

TEST_P(BeneathTest, WhatIsNotBeneathTheRootIsRefused) {
  for (const std::string& path :
       {temp_.Sub("outside/f"), root_, root_ + "/", root_ + "/../outside/f", root_ + "/a/./f",
        root_ + "/a//f", root_ + "x/f", std::string("f")})
    EXPECT_EQ(OpenCode(path), Code::kInvalid);
  EXPECT_TRUE(Beneath::Open("/", temp_.Sub("outside/f")));
  EXPECT_EQ(OpenCode(root_ + "/none/f"), Code::kNotFound);
}

TEST_P(BeneathTest, FoldersThatAreMissingAreMade) {
  const Result<Beneath> file = Beneath::Open(root_, root_ + "/x/y/f", Parents::kMake);
  ASSERT_TRUE(file) << file.error().Text();
  ASSERT_TRUE(file->Write("new", 0600));
  EXPECT_EQ(*ReadFile(root_ + "/x/y/f"), "new");
}

TEST_P(BeneathTest, AFileKeepsItsModeAndOneWithSeveralNamesStaysOne) {
  const std::string path = root_ + "/f";
  ASSERT_TRUE(ReplaceFile(path, "a longer text", Durable::kNo));
  ASSERT_EQ(::chmod(path.c_str(), 0751), 0);
  const Result<Beneath> file = Beneath::Open(root_, path);
  ASSERT_TRUE(file && file->Write("one", 0600));
  EXPECT_EQ(StatFile(path)->mode, 0751U);
  ASSERT_EQ(::link(path.c_str(), temp_.Sub("outside/other").c_str()), 0);
  ASSERT_TRUE(file->Write("2", 0600));
  EXPECT_EQ(*ReadFile(temp_.Sub("outside/other")), "2");
  EXPECT_EQ(StatFile(path)->links, 2U);
}

TEST_P(BeneathTest, WhatIsNoFileIsNeitherWaitedForNorRead) {
  ASSERT_EQ(::mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  const Result<Beneath> pipe = Beneath::Open(root_, root_ + "/pipe");
  ASSERT_TRUE(pipe);
  EXPECT_EQ(pipe->Read().error().code, Code::kInvalid);
  EXPECT_EQ(pipe->Write("x", 0600).error().code, Code::kInvalid);
  EXPECT_EQ(Beneath::Open(root_, root_ + "/a")->Read().error().code, Code::kInvalid);
  ASSERT_TRUE(ReplaceFile(root_ + "/big", "12345", Durable::kNo));
  EXPECT_EQ(Beneath::Open(root_, root_ + "/big")->Read(4).error().code, Code::kInvalid);
}

TEST_P(BeneathTest, AFileOfOthersMayBeALinkThatStaysInTheirTree) {
  ASSERT_TRUE(ReplaceFile(root_ + "/a/real", "text", Durable::kNo));
  ASSERT_EQ(::symlink("a/real", (root_ + "/near").c_str()), 0);
  ASSERT_EQ(::symlink((root_ + "/a").c_str(), (root_ + "/folder").c_str()), 0);
  ASSERT_EQ(::symlink("../outside/f", (root_ + "/far").c_str()), 0);
  EXPECT_EQ(ReadWithin(root_, root_ + "/near", 10).value_or(""), "text");
  EXPECT_EQ(ReadWithin(root_, root_ + "/folder/real", 10).value_or(""), "text");
  EXPECT_EQ(ReadWithin(root_, root_ + "/far", 10).error().code, Code::kDenied);
  EXPECT_EQ(ReadWithin(root_, root_ + "/near", 3).error().code, Code::kInvalid);
  EXPECT_EQ(ReadWithin(root_, root_ + "/none", 3).error().code, Code::kNotFound);
  EXPECT_EQ(OpenWithin(root_, root_ + "/near")->path(), root_ + "/a/real");
}

}  // namespace
}  // namespace stet
