#include "tool/project/scan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

using Paths = std::vector<std::string>;

/// Files that are new or others, and those that are gone.
Paths Written(const std::vector<ScanChange>& changes) {
  Paths paths;
  for (const ScanChange& change : changes)
    if (change.file_after != nullptr) paths.push_back(change.path);
  return paths;
}
Paths Deleted(const std::vector<ScanChange>& changes) {
  Paths paths;
  for (const ScanChange& change : changes)
    if (change.file_before != nullptr && change.file_after == nullptr) paths.push_back(change.path);
  return paths;
}

class ProjectScanTest : public testing::Test {
 protected:
  void Put(const std::string& name, std::string_view bytes) {
    ASSERT_TRUE(MakeDirs(ParentDir(temp_.Sub(name))));
    ASSERT_TRUE(ReplaceFile(temp_.Sub(name), bytes, Durable::kNo));
  }
  [[nodiscard]] ProjectScan Scan(const ScanLimits& limits = {}) const {
    return ScanProject({.root = temp_.path(), .limits = limits}, {}).value();
  }
  static Paths PathsOf(const ProjectScan& scan) {
    return Written(CompareScans({.top = std::make_shared<ScannedFolder>()}, scan));
  }

  TempDir temp_;
};

TEST_F(ProjectScanTest, FilesAreListedInTheOrderOfTheWalkWithoutIgnoredFoldersThatAreExpendable) {
  Put("b", "");
  Put("a.txt", "");
  Put("a/z", "");
  Put("a-b/c", "");
  Put(".git/config", "");
  Put("data/out/x.o", "");
  Put("kept/out", "");
  Put("out/x.o", "");
  Put(".gitignore", "/out/\ndata/\n");
  const ProjectScan scan = ScanProject({.root = temp_.path(), .expendable = {"out"}}, {}).value();
  EXPECT_EQ(PathsOf(scan), (Paths{".gitignore", "a/z", "a-b/c", "a.txt", "b", "kept/out"}));
  EXPECT_FALSE(scan.capped);
  Put("data/db", "");
  EXPECT_EQ(PathsOf(Scan()), (Paths{".gitignore", "a/z", "a-b/c", "a.txt", "b", "data/db",
                                    "data/out/x.o", "kept/out", "out/x.o"}))
      << "what is ignored is not expendable by that";
}

TEST_F(ProjectScanTest, LinksFoldersAndModesAreSeen) {
  Put("f", "");
  Put("d/x", "");
  ASSERT_EQ(::symlink("nowhere", temp_.Sub("l").c_str()), 0);
  const ProjectScan before = Scan();
  ASSERT_EQ(::chmod(temp_.Sub("f").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(temp_.Sub("d").c_str(), 0750), 0);
  ASSERT_TRUE(Remove(temp_.Sub("l")));
  ASSERT_TRUE(MakeDirs(temp_.Sub("e")));
  const ProjectScan after = Scan();
  Paths paths;
  for (const ScanChange& change : CompareScans(before, after)) paths.push_back(change.path);
  EXPECT_EQ(paths, (Paths{"d", "e", "f", "l"}));
}

TEST_F(ProjectScanTest, ChangedNewAndDeletedFilesAreTold) {
  for (const char* name : {"a/1", "a/2", "a.txt", "b", "c"}) Put(name, "old");
  const ProjectScan before = Scan();
  Put("a/2", "longer");
  ASSERT_TRUE(Remove(temp_.Sub("b")));
  Put("a-new", "x");
  Put("d", "x");
  const std::vector<ScanChange> changes = CompareScans(before, Scan());
  EXPECT_EQ(Written(changes), (Paths{"a/2", "a-new", "d"}));
  EXPECT_EQ(Deleted(changes), Paths{"b"});
}

TEST_F(ProjectScanTest, AFileOfTheSameSizeIsToldByItsTimeOrItsInode) {
  Put("a", "old");
  Put("b", "old");
  const ProjectScan before = Scan();
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 5}, {.tv_sec = 1, .tv_nsec = 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, temp_.Sub("a").c_str(), times, 0), 0);
  const ProjectScan touched = Scan();
  EXPECT_EQ(Written(CompareScans(before, touched)), Paths{"a"});
  Put("b", "new");
  EXPECT_EQ(Written(CompareScans(touched, Scan())), Paths{"b"});
  EXPECT_EQ(Written(CompareScans(before, before)), Paths());
}

TEST_F(ProjectScanTest, WhatLiesBehindTheEndOfACutScanIsNotTold) {
  for (const char* name : {"b", "c", "d", "e"}) Put(name, "");
  const ScanLimits three{.max_entries = 3};
  const ProjectScan before = Scan(three);
  EXPECT_TRUE(before.capped);
  EXPECT_EQ(PathsOf(before), (Paths{"b", "c", "d"}));
  Put("a", "");
  const ProjectScan pushed = Scan(three);
  EXPECT_EQ(Written(CompareScans(before, pushed)), Paths{"a"});
  EXPECT_EQ(Deleted(CompareScans(before, pushed)), Paths()) << "d was pushed out";
  EXPECT_EQ(Deleted(CompareScans(pushed, before)), Paths{"a"});
  EXPECT_EQ(Written(CompareScans(pushed, before)), Paths()) << "d came back in";
}

TEST_F(ProjectScanTest, MemoryAndTimeAreBoundedToo) {
  for (int i = 0; i < 50; ++i) Put(fmt::format("file{}", i), "");
  EXPECT_TRUE(Scan({.max_bytes = 1000}).capped);
  EXPECT_TRUE(Scan({.max_time = std::chrono::milliseconds(-1)}).capped);
  EXPECT_FALSE(Scan().capped);
}

TEST_F(ProjectScanTest, AFileThatBecomesAFolderIsDeletedAndItsFilesAreNew) {
  Put("a", "");
  const ProjectScan before = Scan();
  ASSERT_TRUE(Remove(temp_.Sub("a")));
  Put("a/b", "");
  EXPECT_EQ(Written(CompareScans(before, Scan())), Paths{"a/b"});
  EXPECT_EQ(Deleted(CompareScans(before, Scan())), Paths{"a"});
}

TEST_F(ProjectScanTest, GuardedNamesAreFoundWhereverTheyStand) {
  for (const char* name :
       {".git/config", "sub/.git/config", "sub/.vscode/tasks.json", "out/.git/x"})
    Put(name, "");
  Put(".gitignore", "out/\n");
  const ProjectScan scan =
      ScanProject({.root = temp_.path(), .guarded = {".git", ".vscode"}}, {}).value();
  EXPECT_EQ(GuardedIn(scan), (Paths{".git", "out/.git", "sub/.git", "sub/.vscode"}));
}

TEST_F(ProjectScanTest, CancellingEndsIt) {
  Put("a", "");
  CancelSource cancel;
  cancel.Cancel();
  EXPECT_EQ(ScanProject({.root = temp_.path()}, cancel.token()).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace stet::tool
