#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "json/view.h"
#include "tool/text_file.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class EditTest : public ToolTest {
 protected:
  std::string Edit(const std::string& from, const std::string& to, bool is_error = false) {
    return TextOfRun("Edit",
                     Strings({{"file_path", "a.txt"}, {"old_string", from}, {"new_string", to}}),
                     is_error);
  }
  void PutAndRead(std::string_view bytes) {
    Put("a.txt", bytes);
    Read("a.txt");
  }
};

TEST_F(EditTest, OnePlaceIsReplacedAndShown) {
  PutAndRead("1\n2\n3\n4\n5\n");
  const Outcome outcome =
      Run("Edit", R"({"file_path":"a.txt","old_string":"3\n","new_string":"three\n3b\n"})");
  EXPECT_EQ(TextOf(outcome), "Edited " + Path("a.txt") +
                                 ": 1 replacement.\n     1\t1\n     2\t2\n     3\tthree\n"
                                 "     4\t3b\n     5\t4\n     6\t5\n");
  EXPECT_EQ(Get("a.txt"), "1\n2\nthree\n3b\n4\n5\n");
  EXPECT_EQ(JsonView(outcome.details->text)["added"].Int(), 2);
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].before, Sha256Hex("1\n2\n3\n4\n5\n"));
  EXPECT_EQ(written_[0].after, Sha256Hex(Get("a.txt")));
}

TEST_F(EditTest, EditsAreDoneInOrderAllOrNone) {
  PutAndRead("a b c\n");
  const std::string problem =
      TextOfRun("Edit",
                Raw{R"({"file_path":"a.txt","edits":[{"old_string":"a","new_string":"x"},)"
                    R"({"old_string":"none","new_string":"y"}]})"},
                true);
  EXPECT_NE(problem.find("edit 2: old_string was not found"), std::string::npos) << problem;
  EXPECT_EQ(Get("a.txt"), "a b c\n");
  EXPECT_TRUE(written_.empty());
  TextOfRun("Edit", Raw{R"({"file_path":"a.txt","edits":[{"old_string":"a","new_string":"b"},)"
                        R"({"old_string":"b","new_string":"z","replace_all":true}]})"});
  EXPECT_EQ(Get("a.txt"), "z z c\n");
}

TEST_F(EditTest, WhatCannotBeMeantIsRefused) {
  PutAndRead("x\ny\nx\n");
  EXPECT_NE(Edit("x", "x", true).find("the same"), std::string::npos);
  EXPECT_NE(Edit("", "x", true).find("empty"), std::string::npos);
  EXPECT_NE(Edit("q", "x", true).find("not found"), std::string::npos);
  EXPECT_NE(Edit("x", "z", true).find("2 times, at lines 1, 3"), std::string::npos);
  TextOfRun("Edit", Raw{R"({"file_path":"a.txt"})"}, true);
  TextOfRun("Edit", Raw{R"({"file_path":"a.txt","old_string":"x"})"}, true);
  TextOfRun("Edit", Raw{R"({"file_path":"no.txt","old_string":"x","new_string":"y"})"}, true);
  EXPECT_EQ(Get("a.txt"), "x\ny\nx\n");
}

TEST_F(EditTest, OnlyTheLinesOfTheMatchNeedToBeRead) {
  Put("a.txt", "1\n2\n3\n4\n");
  EXPECT_NE(Edit("2", "two", true).find("Read it first"), std::string::npos);
  Run("Read", R"({"file_path":"a.txt","offset":2,"limit":2})");
  EXPECT_NE(Edit("3\n4", "x", true).find("Line 4 was not read"), std::string::npos);
  Edit("2\n3\n", "2\n2b\n3\n");
  EXPECT_EQ(Get("a.txt"), "1\n2\n2b\n3\n4\n");
  EXPECT_EQ(files_.Find(Path("a.txt"))->lines, (Lines{{2, 4}})) << "not more is known than before";
  EXPECT_FALSE(files_.Find(Path("a.txt"))->whole());
  Edit("2b", "again");
  Edit("4", "four", true);
}

TEST_F(EditTest, AFileThatChangedOutsideIsNotEdited) {
  PutAndRead("old\n");
  Put("a.txt", "old\nmine\n");
  EXPECT_NE(Edit("old", "new", true).find("changed outside"), std::string::npos);
  EXPECT_EQ(Get("a.txt"), "old\nmine\n");
}

TEST_F(EditTest, WhatIsNoTextIsNotEdited) {
  PutAndRead("caf\xE9 x\n");
  EXPECT_NE(Edit("x", "y", true).find("not valid UTF-8"), std::string::npos);
  EXPECT_EQ(Get("a.txt"), "caf\xE9 x\n");
  Put("a.txt", std::string("x\0", 2));
  EXPECT_NE(Edit("x", "y", true).find("binary"), std::string::npos);
  ASSERT_EQ(::unlink(Path("a.txt").c_str()), 0);
  ASSERT_EQ(::mkfifo(Path("a.txt").c_str(), 0600), 0);
  EXPECT_NE(Edit("x", "y", true).find("not a regular file"), std::string::npos);
}

TEST_F(EditTest, AReadOnlyFileIsNotEdited) {
  Put("a.txt", "x", 0444);
  Read("a.txt");
  EXPECT_NE(Edit("x", "y", true).find("read-only"), std::string::npos);
  EXPECT_EQ(Get("a.txt"), "x");
}

TEST_F(EditTest, ManyPlacesTimesALongTextIsRefused) {
  PutAndRead(std::string(40'000, 'a') + "\n");
  Run("Read", R"({"file_path":"a.txt","offset":1,"limit":1})");
  const Outcome outcome = Run("Edit", Strings({{"file_path", "a.txt"},
                                               {"old_string", "aaaa"},
                                               {"new_string", std::string(8'000'000, 'b')}}));
  EXPECT_TRUE(outcome.is_error);
  Raw all = Strings(
      {{"file_path", "a.txt"}, {"old_string", "a"}, {"new_string", std::string(1'000'000, 'b')}});
  all.text.insert(1, R"("replace_all":true,)");
  EXPECT_NE(TextOfRun("Edit", all, true).find("too large"), std::string::npos);
}

TEST_F(EditTest, MixedLineEndsAreKeptWhereNothingChanged) {
  PutAndRead("a\r\nb\nc\r\nd");
  Edit("b\nc\n", "B\nC\n");
  EXPECT_EQ(Get("a.txt"), "a\r\nB\nC\nd");
  Edit("a\n", "A\nA\n");
  EXPECT_EQ(Get("a.txt"), "A\r\nA\r\nB\nC\nd");
}

// Random files in every encoding, with every kind of line end: what was not replaced is the same
// to the byte, what was replaced is what was asked for, mode and symlink stay.
class EditPropertyTest : public EditTest {
 protected:
  std::string RandomText(std::size_t lines) {
    std::string text;
    const std::uint64_t ends = random_.Below(3);
    for (std::size_t i = 0; i < lines; ++i) {
      for (std::uint64_t words = random_.Below(4); words > 0; --words)
        text += kWords[random_.Below(kWords.size())];
      const bool crlf = ends == 1 || (ends == 2 && random_.Below(2) == 0);
      if (i + 1 < lines || random_.Below(2) == 0) text += crlf ? "\r\n" : "\n";
    }
    return text;
  }

  static constexpr std::array<std::string_view, 8> kWords = {
      "one", " ", "\t", "\u00e9t\u00e9", "\u4e2d", "\U0001F600", "{", "x\r"};
  Random random_{11};
};

TEST_F(EditPropertyTest, EditsNeverDamageAFile) {
  ASSERT_EQ(::symlink("a.txt", Path("link").c_str()), 0);
  int edited = 0;
  for (int round = 0; round < 600; ++round) {
    const std::string text = RandomText(1 + random_.Below(12));
    const auto encoding = static_cast<Encoding>(random_.Below(4));
    const mode_t mode = random_.Below(2) == 0 ? 0640 : 0755;
    ::unlink(Path("a.txt").c_str());
    PutAndRead(EncodeText(text, encoding));
    ASSERT_EQ(::chmod(Path("a.txt").c_str(), mode), 0);

    const std::string lf = ToLf(text);
    if (lf.empty()) continue;
    // A part of the text that starts and ends at code points.
    std::size_t from = random_.Below(lf.size());
    std::size_t to = from + random_.Below(lf.size() - from) + 1;
    const auto inside = [&](std::size_t at) {
      return at < lf.size() && (static_cast<unsigned char>(lf[at]) & 0xC0) == 0x80;
    };
    while (inside(from)) --from;
    while (inside(to)) ++to;
    const std::string old_text = lf.substr(from, to - from);
    // Twice, because the words have a "\r" in them that may come before a line end.
    const std::string new_text = ToLf(ToLf(RandomText(random_.Below(3))));
    const std::string before = Get("a.txt");
    const Outcome outcome =
        Run("Edit",
            Strings({{"file_path", "link"}, {"old_string", old_text}, {"new_string", new_text}}));
    if (outcome.is_error) {
      EXPECT_EQ(Get("a.txt"), before);
      continue;
    }
    ++edited;
    const TextFile after = DecodeText(Get("a.txt"));
    EXPECT_TRUE(after.exact);
    EXPECT_EQ(after.encoding, encoding);
    const LfText places(text);
    const std::string head = text.substr(0, places.InOriginal(from));
    const std::string tail = text.substr(places.InOriginal(to));
    ASSERT_TRUE(after.text.starts_with(head)) << round;
    ASSERT_TRUE(after.text.ends_with(tail)) << round;
    const std::string middle =
        after.text.substr(head.size(), after.text.size() - head.size() - tail.size());
    EXPECT_EQ(ToLf(middle), new_text) << round;
    EXPECT_EQ(StatFile(Path("a.txt"))->mode, mode);
    EXPECT_EQ(written_.back().after, Sha256Hex(Get("a.txt")));
    EXPECT_EQ(blobs_[*written_.back().before_blob], before);
    struct stat link{};
    ASSERT_EQ(::lstat(Path("link").c_str(), &link), 0);
    ASSERT_TRUE(S_ISLNK(link.st_mode));
  }
  EXPECT_GT(edited, 200) << "the test must not be empty";
}

}  // namespace
}  // namespace stet::tool
