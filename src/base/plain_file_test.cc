#include "base/plain_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temp_dir.h"

namespace stet {
namespace {

class PlainFileTest : public testing::Test {
 protected:
  /// Every way to it says the same.
  void ExpectRefused(const std::string& path, const std::string& why) {
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_CREAT})
      EXPECT_EQ(OpenPlainFile(path, flags).error(), Error(Code::kInvalid, path + why));
    EXPECT_EQ(ReadPlainFile(path).error(), Error(Code::kInvalid, path + why));
    EXPECT_EQ(PlainFileSize(path).error(), Error(Code::kInvalid, path + why));
  }

  TempDir dir_;
  const std::string path_ = dir_.Sub("file");
};

TEST_F(PlainFileTest, AFileIsReadAndMeasured) {
  EXPECT_EQ(OpenPlainFile(path_, O_RDONLY).error().code, Code::kNotFound);
  ASSERT_TRUE(WriteAll(OpenPlainFile(path_, O_WRONLY | O_CREAT)->get(), "four"));
  EXPECT_EQ(ReadPlainFile(path_), "four");
  EXPECT_EQ(PlainFileSize(path_), 4u);
  EXPECT_EQ(ReadPlainFile(path_, 3).error().code, Code::kInvalid);
  EXPECT_EQ(OpenPlainFile(path_, O_WRONLY | O_CREAT | O_EXCL).error().code, Code::kConflict);
}

TEST_F(PlainFileTest, WhatElseStandsThereIsNamedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(dir_.Sub("fifo").c_str(), 0600), 0);
  ExpectRefused(dir_.Sub("fifo"), " is a FIFO, not a plain file");
  ASSERT_TRUE(MakeDirs(dir_.Sub("folder")));
  ExpectRefused(dir_.Sub("folder"), " is a directory, not a plain file");
  ExpectRefused("/dev/null", " is a device, not a plain file");
}

TEST_F(PlainFileTest, ALinkIsNotFollowedNorMadeToLeadAnywhere) {
  ASSERT_TRUE(ReplaceFile(path_, "x", Durable::kNo));
  ASSERT_EQ(::symlink("file", dir_.Sub("link").c_str()), 0);
  ASSERT_EQ(::symlink("none", dir_.Sub("dangling").c_str()), 0);
  for (const char* name : {"link", "dangling"})
    ExpectRefused(dir_.Sub(name), " is a symlink, not a plain file");
  EXPECT_FALSE(Exists(dir_.Sub("none")));
}

}  // namespace
}  // namespace stet
