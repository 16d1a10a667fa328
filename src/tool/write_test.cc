#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/view.h"
#include "tool/text_file.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class WriteTest : public ToolTest {
 protected:
  std::string Write(std::string_view name, std::string content, bool is_error = false) {
    return TextOfRun("Write", Strings({{"file_path", std::string(name)}, {"content", content}}),
                     is_error);
  }
  [[nodiscard]] mode_t ModeOf(std::string_view name) const { return StatFile(Path(name))->mode; }
};

TEST_F(WriteTest, ANewFileNeedsNoReadingAndItsFoldersAreMade) {
  const Outcome outcome =
      Run("Write", Strings({{"file_path", "x/y/a.txt"}, {"content", "one\ntwo\n"}}));
  EXPECT_EQ(TextOf(outcome), "Created " + Path("x/y/a.txt") + ": 2 lines, 8 bytes.");
  EXPECT_EQ(Get("x/y/a.txt"), "one\ntwo\n");
  EXPECT_EQ(JsonView(outcome.details->text)["added"].Int(), 2);
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0], (protocol::FileFact{.op = "write",
                                             .path = Path("x/y/a.txt"),
                                             .after = Sha256Hex("one\ntwo\n"),
                                             .new_folders = 2,
                                             .tool_call_id = "call_1"}));
}

TEST_F(WriteTest, FoldersAreNotMadeOutsideTheProject) {
  Write(temp_.Sub("elsewhere/a.txt"), "x", true);
  EXPECT_FALSE(Exists(temp_.Sub("elsewhere")));
  EXPECT_TRUE(written_.empty());
}

TEST_F(WriteTest, AnExistingFileMustBeReadWhole) {
  Put("a.txt", "1\n2\n3\n");
  EXPECT_NE(Write("a.txt", "new", true).find("Read it first"), std::string::npos);
  EXPECT_FALSE(Run("Read", R"({"file_path":"a.txt","limit":1})").is_error);
  EXPECT_NE(Write("a.txt", "new", true).find("only in part"), std::string::npos);
  Read("a.txt");
  Write("a.txt", "new");
  EXPECT_EQ(Get("a.txt"), "new");
  Write("a.txt", "newer");
  EXPECT_EQ(Get("a.txt"), "newer") << "what was written is known";
}

TEST_F(WriteTest, AFileThatChangedOutsideIsNotOverwritten) {
  Put("a.txt", "old");
  Read("a.txt");
  Put("a.txt", "mine");
  EXPECT_NE(Write("a.txt", "new", true).find("changed outside"), std::string::npos);
  EXPECT_EQ(Get("a.txt"), "mine");
  EXPECT_TRUE(written_.empty());
}

TEST_F(WriteTest, TheOldContentIsKeptAndTheLogHearsFirst) {
  Put("a.txt", "old", 0750);
  Read("a.txt");
  record_fails_ = true;
  Write("a.txt", "new", true);
  EXPECT_EQ(Get("a.txt"), "old") << "what the log does not know does not happen";
  record_fails_ = false;
  Write("a.txt", "new");
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].before, Sha256Hex("old"));
  EXPECT_EQ(blobs_[*written_[0].before_blob], "old");
  EXPECT_EQ(ModeOf("a.txt"), 0750U);
}

TEST_F(WriteTest, EncodingAndLineEndsAreThoseOfTheOldFile) {
  Put("a.txt", EncodeText("x\r\ny\r\n", Encoding::kUtf16Le));
  Read("a.txt");
  Write("a.txt", "\u00e9\nz\n");
  EXPECT_EQ(Get("a.txt"), EncodeText("\u00e9\r\nz\r\n", Encoding::kUtf16Le));
}

TEST_F(WriteTest, ASymlinkStaysAndItsTargetIsWritten) {
  Put("real.txt", "old");
  ASSERT_EQ(::symlink("real.txt", Path("link.txt").c_str()), 0);
  EXPECT_FALSE(Run("Read", R"({"file_path":"link.txt"})").is_error);
  Write("link.txt", "new");
  EXPECT_EQ(Get("real.txt"), "new");
  struct stat link{};
  ASSERT_EQ(::lstat(Path("link.txt").c_str(), &link), 0);
  EXPECT_TRUE(S_ISLNK(link.st_mode));
}

TEST_F(WriteTest, ReadOnlyFilesFoldersAndPipesAreRefused) {
  Put("a.txt", "old", 0444);
  Read("a.txt");
  EXPECT_NE(Write("a.txt", "new", true).find("read-only"), std::string::npos);
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  Write("fifo", "x", true);
  Write(".", "x", true);
  Write("/dev/null", "x", true);
  EXPECT_TRUE(written_.empty());
}

TEST_F(WriteTest, TheSameContentIsNotWrittenAgain) {
  Put("a.txt", "same");
  Read("a.txt");
  EXPECT_NE(Write("a.txt", "same").find("already"), std::string::npos);
  EXPECT_TRUE(written_.empty());
}

TEST_F(WriteTest, TheIntentIsAnEffectOnTheRealPath) {
  const auto intent =
      registry_.Find("Write")->Intend(Strings({{"file_path", "a"}, {"content", ""}}), workspace_);
  ASSERT_TRUE(intent);
  EXPECT_TRUE(intent->effects);
  EXPECT_EQ(intent->writes, std::vector{Path("a")});
}

}  // namespace
}  // namespace stet::tool
