#include "base/temp_dir.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(TempDir, IsRemovedWithEverythingInIt) {
  std::string path;
  {
    const TempDir dir;
    path = dir.path();
    ASSERT_TRUE(MakeDirs(dir.Sub("a/b")));
    ASSERT_TRUE(ReplaceFile(dir.Sub("a/b/file"), "text", Durable::kNo));
  }
  EXPECT_FALSE(Exists(path));
}

TEST(TempDir, NoTwoAreTheSame) {
  const TempDir first;
  const TempDir second;
  EXPECT_NE(first.path(), second.path());
}

}  // namespace
}  // namespace stet
