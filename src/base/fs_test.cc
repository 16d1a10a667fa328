#include "base/fs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temp_dir.h"

namespace stet {
namespace {

class FsTest : public testing::Test {
 protected:
  /// The names in the test's folder: shows temporary files left behind.
  std::vector<std::string> Names() const {
    const auto entries = ListDir(dir_.path()).value();
    std::vector<std::string> names;
    names.reserve(entries.size());
    for (const DirEntry& entry : entries) names.push_back(entry.name);
    return names;
  }

  TempDir dir_;
  const std::string file_ = dir_.Sub("file");
};

using Strings = std::vector<std::string>;

TEST_F(FsTest, ReadsBackWhatWasWritten) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(ReplaceFile(file_, bytes, Durable::kYes));
  EXPECT_EQ(ReadFile(file_), bytes);
}

TEST_F(FsTest, ReadsAnEmptyFile) {
  ASSERT_TRUE(ReplaceFile(file_, "", Durable::kNo));
  EXPECT_EQ(ReadFile(file_), "");
}

TEST_F(FsTest, ReadsAFileThatDoesNotKnowItsSize) {
  const auto status = ReadFile("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->starts_with("Name:"));
}

TEST_F(FsTest, ReadsAFileOfExactlyTheCap) {
  ASSERT_TRUE(ReplaceFile(file_, "12345", Durable::kNo));
  EXPECT_EQ(ReadFile(file_, 5), "12345");
}

TEST_F(FsTest, RefusesToReadAFileLargerThanTheCap) {
  ASSERT_TRUE(ReplaceFile(file_, "123456", Durable::kNo));
  const auto read = ReadFile(file_, 5);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), Error(Code::kInvalid, "read " + file_ + ": larger than 5 bytes"));
}

TEST_F(FsTest, RefusesMoreThanTheCapOfAFileThatDoesNotKnowItsSize) {
  EXPECT_EQ(ReadFile("/proc/self/status", 10).error().code, Code::kInvalid);
}

TEST_F(FsTest, RefusesToReadAFolder) {
  const auto read = ReadFile(dir_.path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), Error(Code::kInvalid, "read " + dir_.path() + ": it is a folder"));
}

TEST_F(FsTest, DoesNotWaitForTheWriterOfAFifo) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(file_), "");
}

TEST_F(FsTest, AMissingFileIsNotFoundAndNamed) {
  const auto read = ReadFile(file_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kNotFound);
  EXPECT_NE(read.error().message.find(file_), std::string::npos);
}

TEST_F(FsTest, ReplaceLeavesNoTemporaryFile) {
  ASSERT_TRUE(ReplaceFile(file_, "one", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(file_, "two", Durable::kYes));
  EXPECT_EQ(ReadFile(file_), "two");
  EXPECT_EQ(Names(), Strings{"file"});
}

TEST_F(FsTest, ReplaceKeepsThePermissionsOfTheOldFile) {
  ASSERT_TRUE(ReplaceFile(file_, "one", Durable::kNo));
  ASSERT_EQ(::chmod(file_.c_str(), 0754), 0);
  ASSERT_TRUE(ReplaceFile(file_, "two", Durable::kNo, 0600));
  EXPECT_EQ(StatFile(file_).value().mode, 0754u);
}

TEST_F(FsTest, ANewFileIsPrivateUnlessToldOtherwise) {
  ASSERT_TRUE(ReplaceFile(file_, "one", Durable::kNo));
  EXPECT_EQ(StatFile(file_).value().mode, 0600u);
  const mode_t mask = ::umask(022);
  ASSERT_TRUE(ReplaceFile(dir_.Sub("open"), "one", Durable::kNo, 0666));
  ::umask(mask);
  EXPECT_EQ(StatFile(dir_.Sub("open")).value().mode, 0644u);
}

TEST_F(FsTest, AReaderOfTheOldFileIsNotDisturbedByItsReplacement) {
  ASSERT_TRUE(ReplaceFile(file_, "one", Durable::kNo));
  const Fd old = OpenFile(file_, O_RDONLY).value();
  ASSERT_TRUE(ReplaceFile(file_, "two", Durable::kNo));
  char text[3];
  ASSERT_TRUE(PreadExact(old.get(), text, 3, 0));
  EXPECT_EQ(std::string_view(text, 3), "one");
}

TEST_F(FsTest, AFailedReplacementLeavesTheTargetAndNoTemporaryFile) {
  ASSERT_TRUE(MakeDirs(dir_.Sub("folder/inside")));
  EXPECT_FALSE(ReplaceFile(dir_.Sub("folder"), "text", Durable::kNo));
  EXPECT_EQ(Names(), Strings{"folder"});
}

TEST_F(FsTest, ReplaceInAMissingFolderIsNotFound) {
  EXPECT_EQ(ReplaceFile(dir_.Sub("no/file"), "x", Durable::kNo).error().code, Code::kNotFound);
}

TEST_F(FsTest, AFullDiskIsSaidToBeFull) {
  const Fd full = OpenFile("/dev/full", O_WRONLY).value();
  EXPECT_EQ(WriteAll(full.get(), "x").error().code, Code::kFull);
}

TEST_F(FsTest, FilesAreOpenedCloseOnExec) {
  const Fd fd = OpenFile(file_, O_RDWR | O_CREAT).value();
  EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(FsTest, PreadStopsAtTheEnd) {
  ASSERT_TRUE(ReplaceFile(file_, "abcdef", Durable::kNo));
  const Fd fd = OpenFile(file_, O_RDONLY).value();
  char buffer[4];
  EXPECT_EQ(Pread(fd.get(), buffer, 1), 4u);
  EXPECT_EQ(std::string_view(buffer, 4), "bcde");
  EXPECT_EQ(Pread(fd.get(), buffer, 4), 2u);
  EXPECT_EQ(Pread(fd.get(), buffer, 99), 0u);
}

TEST_F(FsTest, AFileThatEndsBeforeItsBytesIsCorrupt) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  const Fd fd = OpenFile(file_, O_RDONLY).value();
  char buffer[4];
  EXPECT_EQ(PreadExact(fd.get(), buffer, 4, 0).error().code, Code::kCorrupt);
}

TEST_F(FsTest, StatSaysWhatAFileIs) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  const timespec times[2] = {{1, 0}, {1'700'000'000, 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file_.c_str(), times, 0), 0);
  const FileStat stat = StatFile(file_).value();
  EXPECT_EQ(stat.size, 3u);
  EXPECT_EQ(stat.mtime_ms, 1'700'000'000'123);
  EXPECT_EQ(stat.mtime_ns, 1'700'000'000'123'456'789u);
  EXPECT_TRUE(stat.is_file);
  EXPECT_FALSE(stat.is_dir);
  EXPECT_EQ(stat.links, 1u);
  EXPECT_EQ(StatFd(OpenFile(file_, O_RDONLY).value().get()), stat);
  EXPECT_TRUE(StatFile(dir_.path()).value().is_dir);
}

TEST_F(FsTest, ADanglingSymlinkDoesNotExist) {
  ASSERT_EQ(::symlink("nowhere", file_.c_str()), 0);
  EXPECT_FALSE(Exists(file_));
  EXPECT_TRUE(Exists(dir_.path()));
}

TEST_F(FsTest, RemoveTakesFilesLinksAndEmptyFolders) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  ASSERT_TRUE(MakeDirs(dir_.Sub("folder")));
  ASSERT_EQ(::symlink("file", dir_.Sub("link").c_str()), 0);
  EXPECT_TRUE(Remove(dir_.Sub("link")));
  EXPECT_TRUE(Exists(file_));
  EXPECT_TRUE(Remove(file_));
  EXPECT_TRUE(Remove(dir_.Sub("folder")));
  EXPECT_EQ(Names(), Strings{});
  EXPECT_EQ(Remove(file_).error().code, Code::kNotFound);
}

TEST_F(FsTest, RenameMovesAFile) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  ASSERT_TRUE(Rename(file_, dir_.Sub("moved")));
  EXPECT_EQ(Names(), Strings{"moved"});
  EXPECT_EQ(Rename(file_, dir_.Sub("again")).error().code, Code::kNotFound);
}

TEST_F(FsTest, LinkSharesTheFileWhereItCan) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  ASSERT_TRUE(LinkOrCopy(file_, dir_.Sub("linked"), Durable::kYes));
  EXPECT_EQ(StatFile(dir_.Sub("linked")).value().inode, StatFile(file_).value().inode);
}

TEST_F(FsTest, LinkFollowsASymlinkAsACopyDoes) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  ASSERT_EQ(::symlink("file", dir_.Sub("symlink").c_str()), 0);
  ASSERT_TRUE(LinkOrCopy(dir_.Sub("symlink"), dir_.Sub("linked")));
  EXPECT_EQ(StatFile(file_).value().links, 2u);
}

TEST_F(FsTest, LinkDoesNotReplaceAFile) {
  ASSERT_TRUE(ReplaceFile(file_, "abc", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(dir_.Sub("there"), "old", Durable::kNo));
  EXPECT_EQ(LinkOrCopy(file_, dir_.Sub("there")).error().code, Code::kConflict);
  EXPECT_EQ(ReadFile(dir_.Sub("there")), "old");
}

/// A folder on another file system than the test's, or none.
Result<std::string> ForeignDir(const std::string& here) {
  for (const char* parent : {"/tmp", "/dev/shm", "/var/tmp"}) {
    auto made = MakeTempDir(parent, "stet-test-");
    if (made && StatFile(*made).value().device != StatFile(here).value().device) return made;
    if (made) {
      EXPECT_TRUE(RemoveTree(*made));
    }
  }
  return Fail(Code::kNotFound, "there is one file system only");
}

TEST_F(FsTest, LinkCopiesToAnotherFileSystem) {
  const auto other = ForeignDir(dir_.path());
  if (!other) GTEST_SKIP() << other.error().Text();
  const std::string bytes(300'000, 'x');
  ASSERT_TRUE(ReplaceFile(file_, bytes, Durable::kNo));
  ASSERT_EQ(::chmod(file_.c_str(), 0640), 0);

  EXPECT_TRUE(LinkOrCopy(file_, *other + "/copy", Durable::kYes));
  EXPECT_EQ(ReadFile(*other + "/copy"), bytes);
  EXPECT_EQ(StatFile(*other + "/copy").value().mode, 0640u);
  EXPECT_EQ(LinkOrCopy(file_, *other + "/copy").error().code, Code::kConflict);
  EXPECT_EQ(ListDir(*other).value(), (std::vector<DirEntry>{{"copy", EntryKind::kFile}}));
  EXPECT_TRUE(RemoveTree(*other));
}

}  // namespace
}  // namespace stet
