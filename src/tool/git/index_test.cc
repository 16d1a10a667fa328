#include "tool/git/index.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/random.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

class GitIndexTest : public testing::Test {
 protected:
  void Git(const std::string& command) {
    SpawnOptions options;
    options.argv = {
        "/bin/sh", "-c",
        "git -c user.name=u -c user.email=u@example.com -c init.defaultBranch=main " + command};
    options.cwd = root();
    const Result<Finished> ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(1)), {});
    ASSERT_TRUE(ran && ran->exit_code == 0) << command << (ran ? ran->err : "");
  }
  void Put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeDirs(ParentDir(root() + "/" + name)));
    ASSERT_TRUE(ReplaceFile(root() + "/" + name, text, Durable::kNo));
  }
  /// As if it had been written a while ago: what is changed in the same moment is never sure.
  void Age(const std::string& name) {
    const struct timespec times[2] = {{.tv_sec = 1'600'000'000, .tv_nsec = 5},
                                      {.tv_sec = 1'600'000'000, .tv_nsec = 5}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (root() + "/" + name).c_str(), times, 0), 0);
  }
  [[nodiscard]] bool Restorable(const std::string& name) const {
    return IsRestorable(root(), root() + "/" + name);
  }
  [[nodiscard]] const std::string& root() const { return dir_.path(); }

  TempDir dir_;
};

TEST_F(GitIndexTest, WhatGitHasAsItIsCanBeHadAgain) {
  for (const char* version : {"2", "3", "4"}) {
    (void)RemoveTree(root() + "/.git");
    Put("a.txt", "one\n");
    Put("src/deep/b.txt", "two\n");
    Put("src/deep/bc.txt", "three\n");
    for (const char* name : {"a.txt", "src/deep/b.txt", "src/deep/bc.txt"}) Age(name);
    Git("init -q");
    Git(std::string("update-index --index-version ") + version);
    Git("add -A");
    EXPECT_TRUE(Restorable("a.txt")) << version;
    EXPECT_TRUE(Restorable("src")) << version;
    EXPECT_TRUE(Restorable("not-there")) << version;
    Put("src/deep/new.txt", "x");
    EXPECT_FALSE(Restorable("src")) << "one file is not in it";
    EXPECT_FALSE(Restorable("src/deep/new.txt"));
    ASSERT_TRUE(Remove(root() + "/src/deep/new.txt"));
    Put("a.txt", "six\n");
    EXPECT_FALSE(Restorable("a.txt")) << "changed since";
    EXPECT_FALSE(Restorable("."));
  }
}

TEST_F(GitIndexTest, WithoutARepositoryNothingCan) {
  Put("a.txt", "one\n");
  EXPECT_FALSE(Restorable("a.txt"));
  EXPECT_FALSE(IsRestorable("", "/etc/passwd"));
}

TEST(GitIndexBytesTest, AnyBytesAreRead) {
  Random random(3);
  std::string bytes("DIRC\0\0\0\4\0\0\0\5", 12);
  for (int round = 0; round < 20'000; ++round) {
    std::string broken = bytes;
    broken[7] = static_cast<char>(2 + random.Below(3));
    const std::size_t size = random.Below(300);
    while (broken.size() < size) broken += static_cast<char>(random.Below(256));
    (void)GitIndex::Parse(broken, UINT64_MAX);
  }
  EXPECT_EQ(GitIndex::Parse("", 0).size(), 0U);
}

}  // namespace
}  // namespace stet::tool
