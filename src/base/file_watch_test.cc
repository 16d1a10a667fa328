#include "base/file_watch.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

class FileWatchTest : public testing::Test {
 protected:
  void Append(const std::string& text) {
    std::FILE* file = std::fopen(path_.c_str(), "a");
    ASSERT_NE(file, nullptr);
    std::fputs(text.c_str(), file);
    std::fclose(file);
  }

  TempDir dir_;
  std::string path_ = dir_.path() + "/log";
  Loop loop_;
  FileWatch watch_{loop_};
};

TEST_F(FileWatchTest, TellsOfAWrite) {
  ASSERT_TRUE(ReplaceFile(path_, "a\n", Durable::kNo));
  int told = 0;
  const FileWatch::Handle handle = watch_.Add(path_, [&] {
    ++told;
    loop_.Stop();
  });
  ASSERT_NE(handle, nullptr);
  Append("b\n");
  loop_.Run();
  EXPECT_EQ(told, 1);
}

TEST_F(FileWatchTest, TellsNothingOnceTheHandleIsGone) {
  ASSERT_TRUE(ReplaceFile(path_, "a\n", Durable::kNo));
  int told = 0;
  FileWatch::Handle first = watch_.Add(path_, [&] { ++told; });
  first.reset();
  const std::string other = dir_.path() + "/other";
  ASSERT_TRUE(ReplaceFile(other, "", Durable::kNo));
  const FileWatch::Handle second = watch_.Add(other, [&] { loop_.Stop(); });
  Append("b\n");
  path_ = other;
  Append("c\n");
  loop_.Run();
  EXPECT_EQ(told, 0);
}

TEST_F(FileWatchTest, GivesNothingForAFileThatIsNotThere) {
  EXPECT_EQ(watch_.Add(path_, [] {}), nullptr);
}

TEST_F(FileWatchTest, LetsACallbackEndItsOwnWatch) {
  ASSERT_TRUE(ReplaceFile(path_, "", Durable::kNo));
  FileWatch::Handle handle;
  handle = watch_.Add(path_, [&] {
    handle.reset();
    loop_.Stop();
  });
  Append("b\n");
  loop_.Run();
  EXPECT_EQ(handle, nullptr);
}

}  // namespace
}  // namespace stet
