#include "tool/load.h"

#include <algorithm>

#include <unistd.h>

#include "tool/editor_fixture.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class EditorFilesTest : public ToolTest {
 protected:
  EditorFilesTest() { editor_ = fake_; }

  static Raw Edit(const std::string& path, std::string_view old_text, std::string_view new_text) {
    return Strings({{"file_path", path},
                    {"old_string", std::string(old_text)},
                    {"new_string", std::string(new_text)}});
  }
  Raw File(std::string_view name) const { return Strings({{"file_path", Path(name)}}); }

  std::shared_ptr<FakeEditor> fake_ = std::make_shared<FakeEditor>();
};

TEST_F(EditorFilesTest, WhatIsNotSavedIsReadAndEditedAndTheEditorWritesIt) {
  Put("a.txt", "one\ntwo\n");
  fake_->texts[Path("a.txt")] = "one\ntwo, not saved\n";
  EXPECT_EQ(TextOfRun("Read", File("a.txt")), "     1\tone\n     2\ttwo, not saved\n");
  TextOfRun("Edit", Edit(Path("a.txt"), "not saved", "changed"));
  EXPECT_EQ(fake_->texts[Path("a.txt")], "one\ntwo, changed\n");
  EXPECT_EQ(fake_->asked.back(), "write " + Path("a.txt"));
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].before, Sha256Hex("one\ntwo, not saved\n"));
  EXPECT_EQ(written_[0].after, Sha256Hex("one\ntwo, changed\n"));
  EXPECT_EQ(blobs_.at(*written_[0].before_blob), "one\ntwo, not saved\n");
}

TEST_F(EditorFilesTest, TheEditorWritesAfterTheRecordAndNotWithoutIt) {
  Put("a.txt", "one\n");
  Read("a.txt");
  std::vector<std::string> at_record;
  on_record_ = [&] { at_record = fake_->asked; };
  TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"));
  EXPECT_EQ(std::ranges::count(at_record, "write " + Path("a.txt")), 0);
  record_fails_ = true;
  fake_->asked.clear();
  TextOfRun("Edit", Edit(Path("a.txt"), "1", "one"), true);
  EXPECT_EQ(std::ranges::count(fake_->asked, "write " + Path("a.txt")), 0);
  EXPECT_EQ(Get("a.txt"), "1\n");
}

TEST_F(EditorFilesTest, WhatWasTypedSinceTheReadIsNotOverwritten) {
  Put("a.txt", "one\n");
  Read("a.txt");
  fake_->texts[Path("a.txt")] = "one, typed\n";
  EXPECT_NE(TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"), true).find("changed outside"),
            std::string::npos);
  const Raw whole = Strings({{"file_path", Path("a.txt")}, {"content", "1\n"}});
  EXPECT_NE(TextOfRun("Write", whole, true).find("changed outside"), std::string::npos);
  // While the change is being recorded.
  Read("a.txt");
  on_record_ = [&] { fake_->texts[Path("a.txt")] = "one, typed again\n"; };
  EXPECT_NE(TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"), true).find("just now"),
            std::string::npos);
  EXPECT_EQ(fake_->texts[Path("a.txt")], "one, typed again\n");
  EXPECT_EQ(Get("a.txt"), "one\n");
}

TEST_F(EditorFilesTest, WithoutTheEditorTheDiskCountsAndWhatWasReadThereIsAnotherVersion) {
  Put("a.txt", "one\n");
  fake_->texts[Path("a.txt")] = "not saved\n";
  Read("a.txt");
  editor_.reset();
  TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"), true);
  EXPECT_EQ(Get("a.txt"), "one\n");
  EXPECT_EQ(TextOfRun("Read", File("a.txt")), "     1\tone\n");
}

TEST_F(EditorFilesTest, WhenTheTextCannotBeHadTheDiskIsRead) {
  Put("a.txt", "one\n");
  for (const Code code : {Code::kIo, Code::kTimeout, Code::kUnavailable}) {
    fake_->read_error = Error(code, "no");
    EXPECT_EQ(TextOfRun("Read", File("a.txt")), "     1\tone\n");
  }
  fake_->read_error.reset();
  fake_->texts[Path("a.txt")] = std::string("binary \0 text", 13);
  EXPECT_EQ(TextOfRun("Read", File("a.txt")), "     1\tone\n");
}

TEST_F(EditorFilesTest, AWriteThatTheEditorRefusesIsAnErrorAndLeavesTheDisk) {
  Put("a.txt", "one\n");
  Read("a.txt");
  fake_->write_error = Error(Code::kIo, "the user said no");
  const std::string said = TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"), true);
  EXPECT_NE(said.find("the user said no"), std::string::npos) << said;
  EXPECT_EQ(Get("a.txt"), "one\n");
  const Raw fresh = Strings({{"file_path", Path("new.txt")}, {"content", "x"}});
  TextOfRun("Write", fresh, true);
  EXPECT_FALSE(Exists(Path("new.txt")));
}

TEST_F(EditorFilesTest, ANewFileIsWrittenByTheEditorAndOneThatWasNeverSavedIsNotOverwritten) {
  const Raw fresh = Strings({{"file_path", Path("sub/new.txt")}, {"content", "x\n"}});
  TextOfRun("Write", fresh);
  EXPECT_EQ(Get("sub/new.txt"), "x\n");
  EXPECT_EQ(fake_->asked.back(), "write " + Path("sub/new.txt"));
  fake_->texts[Path("draft.txt")] = "never saved\n";
  const Raw over = Strings({{"file_path", Path("draft.txt")}, {"content", "x\n"}});
  EXPECT_NE(TextOfRun("Write", over, true).find("Read it first"), std::string::npos);
  EXPECT_EQ(TextOfRun("Read", File("draft.txt")), "     1\tnever saved\n");
  TextOfRun("Write", over);
  EXPECT_EQ(Get("draft.txt"), "x\n");
  // An editor's empty text for what is no file does not make it one.
  fake_->texts[Path("none.txt")] = "";
  EXPECT_NE(TextOfRun("Read", File("none.txt"), true).find("does not exist"), std::string::npos);
}

TEST_F(EditorFilesTest, ImagesNotebooksAndOtherEncodingsAreTheDisksAlone) {
  const std::string utf16(
      "\xFF\xFE"
      "a\0\n\0",
      6);
  Put("wide.txt", utf16);
  Put("book.ipynb", "{}\n");
  for (const char* name : {"wide.txt", "book.ipynb"}) {
    fake_->texts[Path(name)] = "of the editor\n";
    Read(name);
  }
  EXPECT_TRUE(fake_->asked.empty());
  TextOfRun("Edit", Edit(Path("wide.txt"), "a", "b"));
  EXPECT_TRUE(fake_->asked.empty());
  EXPECT_EQ(Get("wide.txt"), std::string("\xFF\xFE"
                                         "b\0\n\0",
                                         6));
}

TEST_F(EditorFilesTest, LineEndsAndTheLackOfTheLastOneAreAsTheEditorGivesThem) {
  Put("a.txt", "one\ntwo\n");
  fake_->texts[Path("a.txt")] = "one\r\ntwo";
  Read("a.txt");
  TextOfRun("Edit", Edit(Path("a.txt"), "one", "1\n1"));
  EXPECT_EQ(fake_->texts[Path("a.txt")], "1\r\n1\r\ntwo");
}

TEST_F(EditorFilesTest, ThePathIsStillTheFileThatWasDecidedOnWhenTheEditorIsAsked) {
  Put("a.txt", "one\n");
  Put("other.txt", "other\n");
  Read("a.txt");
  on_record_ = [&] {
    ASSERT_EQ(::unlink(Path("a.txt").c_str()), 0);
    ASSERT_EQ(::symlink(Path("other.txt").c_str(), Path("a.txt").c_str()), 0);
  };
  fake_->texts[Path("a.txt")] = "one\n";
  TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"), true);
  on_record_ = [&] { ASSERT_EQ(::symlink(Path("far.txt").c_str(), Path("new.txt").c_str()), 0); };
  TextOfRun("Write", Strings({{"file_path", Path("new.txt")}, {"content", "x"}}), true);
  EXPECT_EQ(std::ranges::count(fake_->asked, "write " + Path("a.txt")), 0);
  EXPECT_EQ(std::ranges::count(fake_->asked, "write " + Path("new.txt")), 0);
  EXPECT_EQ(Get("other.txt"), "other\n");
}

TEST_F(EditorFilesTest, AnEditorThatOnlyReadsLeavesWhatIsNotSavedAlone) {
  fake_->can_write = false;
  Put("a.txt", "one\n");
  Put("b.txt", "one\n");
  fake_->texts[Path("a.txt")] = "not saved\n";
  Read("a.txt");
  Read("b.txt");
  EXPECT_NE(TextOfRun("Edit", Edit(Path("a.txt"), "not saved", "x"), true).find("save"),
            std::string::npos);
  EXPECT_EQ(Get("a.txt"), "one\n");
  TextOfRun("Edit", Edit(Path("b.txt"), "one", "1"));
  EXPECT_EQ(Get("b.txt"), "1\n");
}

TEST_F(EditorFilesTest, AReadOnlyFileAndAFolderStayWhatTheyAre) {
  Put("a.txt", "one\n", 0444);
  ASSERT_TRUE(MakeDirs(Path("folder")));
  fake_->texts[Path("folder")] = "text";
  Read("a.txt");
  EXPECT_NE(TextOfRun("Edit", Edit(Path("a.txt"), "one", "1"), true).find("read-only"),
            std::string::npos);
  EXPECT_NE(TextOfRun("Read", File("folder"), true).find("is a folder"), std::string::npos);
}

}  // namespace
}  // namespace stet::tool
