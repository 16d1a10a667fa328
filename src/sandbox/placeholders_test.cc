#include "sandbox/placeholders.h"

#include <optional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::sandbox {
namespace {

TEST(PlaceholdersTest, TheyStandUntilTheLastCommandThatNeedsThemHasEnded) {
  const TempDir temp;
  const Texts paths = {temp.Sub("a"), temp.Sub("b")};
  std::optional<Placeholders> one;
  std::optional<Placeholders> other;
  one.emplace().Make(paths);
  other.emplace().Make(paths);
  one.reset();
  EXPECT_TRUE(Exists(paths[0]));
  EXPECT_TRUE(Exists(paths[1]));
  other.reset();
  EXPECT_FALSE(Exists(paths[0]));
  EXPECT_FALSE(Exists(paths[1]));
}

TEST(PlaceholdersTest, WhatIsThereIsLeftAlone) {
  const TempDir temp;
  ASSERT_TRUE(MakeDirs(temp.Sub("empty")));
  ASSERT_TRUE(ReplaceFile(temp.Sub("file"), "x", Durable::kNo));
  ASSERT_EQ(::symlink("/nowhere", temp.Sub("link").c_str()), 0);
  {
    Placeholders placeholders;
    placeholders.Make({temp.Sub("empty"), temp.Sub("file"), temp.Sub("link"),
                       temp.Sub("missing/below"), temp.Sub("new")});
    EXPECT_TRUE(Exists(temp.Sub("new")));
    EXPECT_FALSE(Exists(temp.Sub("missing")));
    ASSERT_TRUE(ReplaceFile(temp.Sub("new/kept"), "x", Durable::kNo));
  }
  EXPECT_TRUE(Exists(temp.Sub("empty")));
  EXPECT_TRUE(Exists(temp.Sub("file")));
  EXPECT_TRUE(Exists(temp.Sub("new/kept"))) << "another process put something into it";
}

TEST(PlaceholdersTest, OneThatWasLeftBehindIsTakenAwayByTheNext) {
  const TempDir temp;
  const std::string path = temp.Sub("a");
  const pid_t child = ::fork();
  if (child == 0) {
    Placeholders placeholders;
    placeholders.Make({path});
    ::_exit(0);  // As if it was killed.
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(Exists(path));
  {
    Placeholders().Make({path});
  }
  EXPECT_FALSE(Exists(path));
}

}  // namespace
}  // namespace stet::sandbox
