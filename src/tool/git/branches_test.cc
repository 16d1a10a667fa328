#include "tool/git/branches.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

TEST(BranchesTest, OthersBranchesAreKnownByTheirNamesAndByThoseThatGitWouldStart) {
  const TempDir temp;
  for (const char* folder : {".git/refs/heads", ".git/refs/remotes/origin", "sub"})
    ASSERT_TRUE(MakeDirs(temp.Sub(folder)));
  for (const char* file :
       {".git/refs/heads/main", ".git/refs/remotes/origin/main", ".git/refs/remotes/origin/topic"})
    ASSERT_TRUE(ReplaceFile(temp.Sub(file), "", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(temp.Sub(".git/packed-refs"),
                          "# pack-refs with: peeled\n"
                          "1111 refs/heads/packed\n"
                          "2222 refs/remotes/origin/packed\n"
                          "2222 refs/remotes/origin/deep/far\n",
                          Durable::kNo));
  for (const char* name : {"origin/main", "topic", "origin/packed", "deep/far", "origin/deep/far"})
    EXPECT_TRUE(IsOthersBranch(temp.Sub("sub"), name)) << name;
  for (const char* name : {"main", "packed", "unknown", "HEAD~2", "../x", "-", ""})
    EXPECT_FALSE(IsOthersBranch(temp.Sub("sub"), name)) << name;
  EXPECT_FALSE(IsOthersBranch("/proc", "origin/main"));
}

}  // namespace
}  // namespace stet::tool
