#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

class FsTreeTest : public testing::Test {
 protected:
  void Write(std::string_view name, std::string_view bytes = "text") const {
    ASSERT_TRUE(ReplaceFile(dir_.Sub(name), bytes, Durable::kNo));
  }

  TempDir dir_;
};

TEST_F(FsTreeTest, MakeDirsMakesEveryMissingFolder) {
  EXPECT_TRUE(MakeDirs(dir_.Sub("a/b//c/")));
  EXPECT_TRUE(StatFile(dir_.Sub("a/b/c")).value().is_dir);
  EXPECT_EQ(StatFile(dir_.Sub("a/b")).value().mode, 0700u);
  EXPECT_TRUE(MakeDirs(dir_.Sub("a/b/c")));
}

TEST_F(FsTreeTest, MakeDirsRefusesAFileInItsWay) {
  Write("file");
  EXPECT_EQ(MakeDirs(dir_.Sub("file")).error().code, Code::kInvalid);
  EXPECT_EQ(MakeDirs(dir_.Sub("file/a/b")).error().code, Code::kInvalid);
  EXPECT_EQ(MakeDirs("").error().code, Code::kNotFound);
}

TEST_F(FsTreeTest, MakeDirsAcceptsASymlinkToAFolder) {
  ASSERT_TRUE(MakeDirs(dir_.Sub("real")));
  ASSERT_EQ(::symlink("real", dir_.Sub("link").c_str()), 0);
  EXPECT_TRUE(MakeDirs(dir_.Sub("link/below")));
  EXPECT_TRUE(Exists(dir_.Sub("real/below")));
}

TEST_F(FsTreeTest, ParentDirFollowsDirname) {
  EXPECT_EQ(ParentDir("/a/b"), "/a");
  EXPECT_EQ(ParentDir("/a/b/"), "/a");
  EXPECT_EQ(ParentDir("/a//b"), "/a");
  EXPECT_EQ(ParentDir("a/b"), "a");
  EXPECT_EQ(ParentDir("b"), ".");
  EXPECT_EQ(ParentDir("/b"), "/");
  EXPECT_EQ(ParentDir("/"), "/");
  EXPECT_EQ(ParentDir(""), ".");
}

TEST_F(FsTreeTest, ListDirSortsByNameAndSaysTheKind) {
  Write("b");
  ASSERT_TRUE(MakeDirs(dir_.Sub("a")));
  ASSERT_EQ(::symlink("a", dir_.Sub("c").c_str()), 0);
  ASSERT_EQ(::mkfifo(dir_.Sub("D").c_str(), 0600), 0);
  EXPECT_EQ(ListDir(dir_.path()), (std::vector<DirEntry>{{"D", EntryKind::kOther},
                                                         {"a", EntryKind::kDir},
                                                         {"b", EntryKind::kFile},
                                                         {"c", EntryKind::kSymlink}}));
}

TEST_F(FsTreeTest, KindOfDoesNotFollowALink) {
  ASSERT_EQ(::symlink(dir_.path().c_str(), dir_.Sub("link").c_str()), 0);
  EXPECT_EQ(KindOf(dir_.path()), EntryKind::kDir);
  EXPECT_EQ(KindOf(dir_.Sub("link")), EntryKind::kSymlink);
  EXPECT_EQ(KindOf(dir_.Sub("none")).error().code, Code::kNotFound);
}

TEST_F(FsTreeTest, ListDirOfWhatIsNoFolderFails) {
  Write("file");
  EXPECT_EQ(ListDir(dir_.Sub("file")).error().code, Code::kInvalid);
  EXPECT_EQ(ListDir(dir_.Sub("none")).error().code, Code::kNotFound);
}

TEST_F(FsTreeTest, RemoveTreeDoesNotFollowSymlinks) {
  ASSERT_TRUE(MakeDirs(dir_.Sub("outside")));
  Write("outside/kept");
  ASSERT_TRUE(MakeDirs(dir_.Sub("tree/deep/deeper")));
  Write("tree/deep/deeper/file");
  ASSERT_EQ(::symlink("../outside", dir_.Sub("tree/link").c_str()), 0);
  EXPECT_TRUE(RemoveTree(dir_.Sub("tree")));
  EXPECT_FALSE(Exists(dir_.Sub("tree")));
  EXPECT_TRUE(Exists(dir_.Sub("outside/kept")));
}

TEST_F(FsTreeTest, RemoveTreeOfASymlinkRemovesTheLinkAlone) {
  ASSERT_TRUE(MakeDirs(dir_.Sub("outside")));
  Write("outside/kept");
  ASSERT_EQ(::symlink("outside", dir_.Sub("link").c_str()), 0);
  EXPECT_TRUE(RemoveTree(dir_.Sub("link/")));
  EXPECT_EQ(ListDir(dir_.path()), (std::vector<DirEntry>{{"outside", EntryKind::kDir}}));
  EXPECT_TRUE(Exists(dir_.Sub("outside/kept")));
}

TEST_F(FsTreeTest, RemoveTreeOfWhatIsNotThereSucceeds) {
  EXPECT_TRUE(RemoveTree(dir_.Sub("none")));
  EXPECT_TRUE(RemoveTree(dir_.Sub("none/below")));
}

TEST_F(FsTreeTest, RemoveTreeRefusesAnEmptyPath) {
  EXPECT_EQ(RemoveTree("").error().code, Code::kInvalid);
}

TEST_F(FsTreeTest, RemoveTreeTakesAFileToo) {
  Write("file");
  EXPECT_TRUE(RemoveTree(dir_.Sub("file")));
  EXPECT_FALSE(Exists(dir_.Sub("file")));
}

TEST_F(FsTreeTest, TreesDeeperThanTheCapAreRefused) {
  std::string path = dir_.Sub("d");
  for (int level = 0; level < kMaxTreeDepth + 1; ++level) path += "/d";
  ASSERT_TRUE(MakeDirs(path));
  EXPECT_EQ(DiskUse(dir_.Sub("d")).error().code, Code::kUnsupported);
  EXPECT_EQ(RemoveTree(dir_.Sub("d")).error().code, Code::kUnsupported);
  EXPECT_TRUE(RemoveTree(dir_.Sub("d/d/d")));
}

TEST_F(FsTreeTest, MakeTempDirMakesANewPrivateFolder) {
  const auto made = MakeTempDir(dir_.path(), "work-");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->starts_with(dir_.Sub("work-")));
  EXPECT_EQ(StatFile(*made).value().mode, 0700u);
  EXPECT_EQ(MakeTempDir(dir_.Sub("none"), "work-").error().code, Code::kNotFound);
}

TEST_F(FsTreeTest, DiskUseCountsBlocksAndAHardLinkOnce) {
  ASSERT_TRUE(MakeDirs(dir_.Sub("tree/below")));
  const std::uint64_t empty = DiskUse(dir_.Sub("tree")).value();
  Write("tree/below/file", std::string(100'000, 'x'));
  const std::uint64_t file = StatFile(dir_.Sub("tree/below/file")).value().block_bytes;
  ASSERT_GE(file, 100'000u);
  EXPECT_EQ(DiskUse(dir_.Sub("tree")), empty + file);
  ASSERT_TRUE(LinkOrCopy(dir_.Sub("tree/below/file"), dir_.Sub("tree/again")));
  EXPECT_EQ(DiskUse(dir_.Sub("tree")), empty + file);
  EXPECT_EQ(DiskUse(dir_.Sub("tree/below/file")), file);
  EXPECT_EQ(DiskUse(dir_.Sub("none")).error().code, Code::kNotFound);
}

TEST_F(FsTreeTest, SyncDirFlushesFoldersOnly) {
  Write("file");
  EXPECT_TRUE(SyncDir(dir_.path()));
  EXPECT_EQ(SyncDir(dir_.Sub("file")).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet
