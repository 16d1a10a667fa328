#include "base/folder_watch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

using Paths = std::set<std::string>;

class FolderWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirs(At("a/b")));
    for (const char* folder : {"", "a", "a/b"}) watch_.Add(At(folder));
    ASSERT_TRUE(watch_.in_force());
    ASSERT_TRUE(watch_.Take().empty());
  }
  [[nodiscard]] std::string At(const std::string& name) const {
    return name.empty() ? temp_.path() : temp_.Sub(name);
  }

  TempDir temp_;
  FolderWatch watch_;
};

TEST_F(FolderWatchTest, EachChangeIsToldOnceByItsFolder) {
  ASSERT_TRUE(ReplaceFile(At("a/b/file"), "x", Durable::kNo));
  FolderWatch::Changes changes = watch_.Take();
  EXPECT_EQ(changes.folders, Paths{At("a/b")});
  EXPECT_EQ(changes.renewed, Paths());
  EXPECT_TRUE(watch_.Take().empty());
  ASSERT_EQ(::chmod(At("a/b/file").c_str(), 0600), 0);
  EXPECT_EQ(watch_.Take().folders, Paths{At("a/b")});
  ASSERT_TRUE(Remove(At("a/b/file")));
  EXPECT_EQ(watch_.Take().folders, Paths{At("a/b")});
}

TEST_F(FolderWatchTest, AFolderThatIsMovedIsToldAtBothItsPlaces) {
  ASSERT_TRUE(Rename(At("a/b"), At("c")));
  const FolderWatch::Changes changes = watch_.Take();
  EXPECT_EQ(changes.folders, (Paths{At(""), At("a")}));
  EXPECT_EQ(changes.renewed, (Paths{At("a/b"), At("c")}));
}

TEST_F(FolderWatchTest, WhatIsForgottenIsToldNoMoreAndCanBeAddedAgain) {
  ASSERT_TRUE(MakeDirs(At("a/b-c")));
  watch_.Add(At("a/b-c"));
  (void)watch_.Take();
  watch_.Forget(At("a/b"));
  ASSERT_TRUE(ReplaceFile(At("a/b/file"), "x", Durable::kNo));
  EXPECT_TRUE(watch_.Take().empty());
  ASSERT_TRUE(ReplaceFile(At("a/b-c/file"), "x", Durable::kNo));
  EXPECT_EQ(watch_.Take().folders, Paths{At("a/b-c")});
  watch_.Add(At("a/b"));
  ASSERT_TRUE(ReplaceFile(At("a/b/file"), "y", Durable::kNo));
  EXPECT_EQ(watch_.Take().folders, Paths{At("a/b")});
}

TEST_F(FolderWatchTest, AFolderThatIsGoneIsNoReasonToStop) {
  watch_.Add(At("nowhere"));
  EXPECT_TRUE(watch_.in_force());
}

}  // namespace
}  // namespace stet
