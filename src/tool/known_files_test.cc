#include "tool/known_files.h"

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

protocol::FileFact ReadFact(std::string hash, const Lines& lines, std::int64_t total) {
  return {.op = "read",
          .path = "/p/a",
          .before = hash,
          .after = hash,
          .coverage = KnownFiles::Coverage(lines, total)};
}

TEST(KnownFilesTest, AFileThatWasNeverReadIsNotKnown) {
  EXPECT_EQ(KnownFiles().Find("/p/a"), nullptr);
}

TEST(KnownFilesTest, RangesOfOneVersionAddUpToTheWhole) {
  KnownFiles files;
  files.Learn(ReadFact("h", {{1, 10}}, 30));
  files.Learn(ReadFact("h", {{21, 30}}, 30));
  ASSERT_NE(files.Find("/p/a"), nullptr);
  EXPECT_FALSE(files.Find("/p/a")->whole());
  EXPECT_TRUE(files.Find("/p/a")->Covers(22, 30));
  EXPECT_FALSE(files.Find("/p/a")->Covers(10, 11));
  files.Learn(ReadFact("h", {{11, 20}}, 30));
  EXPECT_TRUE(files.Find("/p/a")->whole());
  EXPECT_EQ(files.Find("/p/a")->lines, (Lines{{1, 30}}));
}

TEST(KnownFilesTest, AnotherVersionStartsAnew) {
  KnownFiles files;
  files.Learn(ReadFact("h", {{1, 10}}, 10));
  files.Learn(ReadFact("i", {{1, 2}}, 10));
  EXPECT_EQ(files.Find("/p/a")->hash, "i");
  EXPECT_FALSE(files.Find("/p/a")->whole());
}

TEST(KnownFilesTest, AWriteIsKnownWholeUnlessItSaysOtherwise) {
  KnownFiles files;
  protocol::FileFact write{.op = "write", .path = "/p/a", .after = "n"};
  files.Learn(write);
  EXPECT_TRUE(files.Find("/p/a")->whole());
  EXPECT_TRUE(files.Find("/p/a")->Covers(5, 9));
  files.Learn(ReadFact("n", {{1, 2}}, 10));
  EXPECT_TRUE(files.Find("/p/a")->whole()) << "reading a part takes nothing away";
  write.coverage = KnownFiles::Coverage({{1, 2}}, 10);
  files.Learn(write);
  EXPECT_FALSE(files.Find("/p/a")->whole());
}

TEST(KnownFilesTest, AnEmptyFileIsWholeAndAnImageNever) {
  KnownFiles files;
  files.Learn(ReadFact("h", {}, 0));
  EXPECT_TRUE(files.Find("/p/a")->whole());
  files.Learn({.op = "read", .path = "/p/i.png", .before = "h", .after = "h"});
  EXPECT_FALSE(files.Find("/p/i.png")->whole());
}

TEST(KnownFilesTest, ADeletedFileIsForgottenAndOutsideWritesChangeNothing) {
  KnownFiles files;
  files.Learn(ReadFact("h", {{1, 1}}, 1));
  files.Learn({.op = "outside_write", .path = "/p/a", .after = "x"});
  EXPECT_EQ(files.Find("/p/a")->hash, "h");
  files.Learn({.op = "delete", .path = "/p/a", .before = "x"});
  EXPECT_EQ(files.Find("/p/a"), nullptr);
}

TEST(KnownFilesTest, ADamagedCoverageMakesNothingKnown) {
  for (const char* text : {"null", "{}", R"({"lines":[[1]],"total":3})",
                           R"({"lines":[[3,1],[0,9],["a","b"],[1,2,3]],"total":3})"}) {
    KnownFiles files;
    protocol::FileFact fact = ReadFact("h", {}, 3);
    fact.coverage = Raw{text};
    files.Learn(fact);
    EXPECT_FALSE(files.Find("/p/a")->whole()) << text;
    EXPECT_FALSE(files.Find("/p/a")->Covers(1, 1)) << text;
  }
}

}  // namespace
}  // namespace stet::tool
