#include "tool/grep.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/text_file.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class GrepTest : public ToolTest {
 protected:
  GrepTest() {
    Put("a.cc", "int one;\nint two;\nvoid f();\nint three;\n");
    Put("b/c.cc", "Int One;\r\nx\r\n");
    Put("b/d.py", "one = 1\n");
    Put("skip.log", "one\n");
    Put("out/o.cc", "one\n");
    Put(".git/g.cc", "one\n");
    Put("bin", std::string("one\0", 4));
    Put(".gitignore", "out/\n*.log\n");
  }

  [[nodiscard]] GrepQuery Query(std::string pattern) const {
    return {.pattern = std::move(pattern), .folder = Path(""), .project = Path("")};
  }
  /// The lines of our own engine and, where it is installed, of ripgrep, which must be the same.
  std::vector<std::string> Lines(const GrepQuery& query) {
    const auto here = GrepHere(query, cancel_.token());
    EXPECT_TRUE(here) << here.error().Text();
    if (const std::string program = FindRipgrep(); !program.empty()) {
      const auto there = GrepWithRipgrep(program, query, cancel_.token());
      EXPECT_TRUE(there) << there.error().Text();
      EXPECT_EQ(there->lines, here->lines) << query.pattern;
    }
    return here->lines;
  }
  using Texts = std::vector<std::string>;
};

TEST_F(GrepTest, FilesThatMatchInTheOrderOfTheirPaths) {
  EXPECT_EQ(Lines(Query("one")), (Texts{"./a.cc", "./b/d.py"}));
  GrepQuery query = Query("one");
  query.ignore_case = true;
  EXPECT_EQ(Lines(query), (Texts{"./a.cc", "./b/c.cc", "./b/d.py"}));
  EXPECT_EQ(Lines(Query("nothing")), Texts{});
}

TEST_F(GrepTest, ContentWithContextAndGroups) {
  GrepQuery query = Query("^(int (one|three)|one)");
  query.mode = GrepMode::kContent;
  EXPECT_EQ(Lines(query),
            (Texts{"./a.cc:1:int one;", "./a.cc:4:int three;", "./b/d.py:1:one = 1"}));
  query.after = 1;
  EXPECT_EQ(Lines(query), (Texts{"./a.cc:1:int one;", "./a.cc-2-int two;", "--",
                                 "./a.cc:4:int three;", "--", "./b/d.py:1:one = 1"}));
  query.before = 1;
  EXPECT_EQ(Lines(query), (Texts{"./a.cc:1:int one;", "./a.cc-2-int two;", "./a.cc-3-void f();",
                                 "./a.cc:4:int three;", "--", "./b/d.py:1:one = 1"}));
  query.line_numbers = false;
  query.before = query.after = 0;
  EXPECT_EQ(Lines(query), (Texts{"./a.cc:int one;", "./a.cc:int three;", "./b/d.py:one = 1"}));
}

TEST_F(GrepTest, CountsAreOfLines) {
  GrepQuery query = Query("int|e");
  query.mode = GrepMode::kCount;
  EXPECT_EQ(Lines(query), (Texts{"./a.cc:3", "./b/c.cc:1", "./b/d.py:1"}));
}

TEST_F(GrepTest, LineEndsAreNotPartOfALine) {
  GrepQuery query = Query("One;$");
  query.mode = GrepMode::kContent;
  EXPECT_EQ(Lines(query), (Texts{"./b/c.cc:1:Int One;"}));
}

TEST_F(GrepTest, GlobsAndTypesChooseFiles) {
  GrepQuery query = Query("one");
  query.ignore_case = true;
  query.glob = "*.cc";
  EXPECT_EQ(Lines(query), (Texts{"./a.cc", "./b/c.cc"}));
  query.glob = "b/*.{cc,py}";
  EXPECT_EQ(Lines(query), (Texts{"./b/c.cc", "./b/d.py"}));
  query.glob = "!*.cc";
  EXPECT_EQ(Lines(query), (Texts{"./b/d.py"}));
  query.glob = "*.log";
  EXPECT_EQ(Lines(query), (Texts{"./skip.log"})) << "what is asked for by name is found";
  query.glob = "";
  query.type = "py";
  EXPECT_EQ(Lines(query), (Texts{"./b/d.py"}));
  query.type = "klingon";
  EXPECT_FALSE(GrepHere(query, cancel_.token()));
}

TEST_F(GrepTest, AMatchMayGoOverLines) {
  GrepQuery query = Query("two;.void");
  query.mode = GrepMode::kContent;
  EXPECT_EQ(Lines(query), Texts{});
  query.multiline = true;
  EXPECT_EQ(Lines(query), (Texts{"./a.cc:2:int two;", "./a.cc:3:void f();"}));
  query.pattern = "x*";
  EXPECT_EQ(GrepHere(query, cancel_.token())->lines.size(), 9U) << "empty matches end";
}

TEST_F(GrepTest, OneFileMayBeSearched) {
  GrepQuery query = Query("one");
  query.folder = Path("b");
  query.file = "d.py";
  query.mode = GrepMode::kContent;
  EXPECT_EQ(Lines(query), (Texts{"./d.py:1:one = 1"}));
}

TEST_F(GrepTest, OtherEncodingsAreRead) {
  Put("wide.txt", EncodeText("caf\u00e9 wide\n", Encoding::kUtf16Le));
  GrepQuery query = Query("caf. wide");
  query.mode = GrepMode::kContent;
  EXPECT_EQ(Lines(query), (Texts{"./wide.txt:1:caf\u00e9 wide"}));
}

TEST_F(GrepTest, HostilePatternsAreRefusedOrTakeNoTime) {
  EXPECT_EQ(GrepHere(Query("("), cancel_.token()).error().code, Code::kInvalid);
  EXPECT_FALSE(GrepHere(Query("(a)\\1"), cancel_.token()));
  EXPECT_FALSE(GrepHere(Query("(((a{1000}){1000}){1000})"), cancel_.token()));
  Put("long.txt", std::string(100'000, 'a') + "\n");
  EXPECT_EQ(Lines(Query("(a*)*b$")), Texts{});
}

TEST_F(GrepTest, LinksAndPipesAreNotOpened) {
  ASSERT_EQ(::mkfifo(Path("fifo.cc").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("/etc/passwd", Path("link.cc").c_str()), 0);
  EXPECT_EQ(Lines(Query("root|three")), (Texts{"./a.cc"}));
}

TEST_F(GrepTest, TheToolPagesAndNamesPathsFromTheCwd) {
  const auto run = [&](std::string_view json) { return TextOf(Run("Grep", json)); };
  EXPECT_EQ(run(R"({"pattern":"int","output_mode":"content","head_limit":2})"),
            "a.cc:1:int one;\na.cc:2:int two;\n(There is more. Go on with offset=2.)\n");
  EXPECT_EQ(run(R"({"pattern":"int","output_mode":"content","head_limit":2,"offset":2})"),
            "a.cc:4:int three;\n");
  EXPECT_EQ(run(R"({"pattern":"int","offset":5})"), "(No more matches.)\n");
  EXPECT_EQ(run(R"({"pattern":"nothing"})"), "(No matches.)\n");
  EXPECT_EQ(run(R"({"pattern":"one","path":"b"})"), "b/d.py\n");
  EXPECT_EQ(run(R"({"pattern":"one","path":"b/d.py","output_mode":"count"})"), "b/d.py:1\n");
  workspace_.cwd = Path("b");
  EXPECT_EQ(run(R"({"pattern":"three","path":".."})"), Path("a.cc") + "\n");
  EXPECT_EQ(run(R"({"pattern":"x","-C":1,"output_mode":"content"})"),
            "c.cc-1-Int One;\nc.cc:2:x\n");
}

TEST_F(GrepTest, LongLinesAreCut) {
  Put("min.js", std::string(10'000, 'x') + "\n");
  const std::string text =
      TextOf(Run("Grep", R"({"pattern":"xx","glob":"*.js","output_mode":"content"})"));
  EXPECT_LT(text.size(), 800U);
  EXPECT_TRUE(text.ends_with(" [cut]\n"));
}

TEST_F(GrepTest, WhatCannotBeSearchedIsRefused) {
  for (const char* json : {R"({"pattern":"("})", R"({"pattern":"x","path":"none"})",
                           R"({"pattern":"x","path":"/proc"})", R"({"pattern":""})",
                           R"({"pattern":"x","output_mode":"json"})", R"({"pattern":"a\u0000"})"})
    EXPECT_TRUE(Run("Grep", json).is_error) << json;
  cancel_.Cancel();
  EXPECT_TRUE(Run("Grep", R"({"pattern":"x"})").is_error);
}

TEST_F(GrepTest, AnotherNameOfAnExcludedFileIsNotShown) {
  Put("private/p", "sesame\n");
  ASSERT_EQ(::link(Path("private/p").c_str(), Path("plain").c_str()), 0);
  Put("open", "sesame\n");
  ASSERT_EQ(::link(Path("open").c_str(), Path("same").c_str()), 0);
  GrepQuery query = Query("sesame");
  query.exclude = std::make_shared<const IgnoreFile>("private/");
  const auto found = GrepHere(query, cancel_.token());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lines, (Texts{"./open", "./same"}));
}

}  // namespace
}  // namespace stet::tool
