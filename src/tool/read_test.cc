#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class ReadTest : public ToolTest {
 protected:
  std::string ReadText(std::string_view json, bool is_error = false) {
    return TextOfRun("Read", Raw{std::string(json)}, is_error);
  }
};

std::string Numbers(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST_F(ReadTest, LinesAreNumberedAndTheFactNamesTheBytes) {
  Put("a.txt", "one\r\n\r\nthree");
  const Outcome outcome = Run("Read", R"({"file_path":"a.txt"})");
  EXPECT_EQ(TextOf(outcome), "     1\tone\n     2\t\n     3\tthree\n");
  protocol::FileFact fact{.op = "read", .path = Path("a.txt"), .tool_call_id = "call_1"};
  fact.before = fact.after = Sha256Hex("one\r\n\r\nthree");
  fact.coverage = KnownFiles::Coverage({{1, 3}}, 3);
  EXPECT_EQ(outcome.reads, std::vector{fact});
  EXPECT_TRUE(files_.Find(Path("a.txt"))->whole());
}

TEST_F(ReadTest, APartSaysHowToGoOn) {
  Put("a.txt", Numbers(1, 10));
  EXPECT_EQ(ReadText(R"({"file_path":"a.txt","offset":3,"limit":2.0})"),
            "     3\t3\n     4\t4\n(Lines 3 to 4 of 10. Go on with offset=5.)\n");
  EXPECT_EQ(files_.Find(Path("a.txt"))->lines, (Lines{{3, 4}}));
  EXPECT_EQ(ReadText(R"({"file_path":"a.txt","offset":10})"), "    10\t10\n");
  ReadText(R"({"file_path":"a.txt","offset":11})", true);
}

TEST_F(ReadTest, NoMoreThan2000LinesAtOnce) {
  Put("a.txt", Numbers(1, 2500));
  EXPECT_NE(ReadText(R"({"file_path":"a.txt"})").find("Go on with offset=2001"), std::string::npos);
}

TEST_F(ReadTest, TheBudgetEndsAtAWholeLine) {
  workspace_.context_window = 1000;
  Put("a.txt", Numbers(1000, 2000));
  const std::string text = ReadText(R"({"file_path":"a.txt"})");
  EXPECT_LT(text.size(), 400U);
  EXPECT_NE(text.find("\n(Lines 1 to "), std::string::npos);
}

TEST_F(ReadTest, ALongLineIsCutAndNotKnownUntilItIsReadAlone) {
  Put("a.txt", "short\n" + std::string(5000, 'x') + "\nend\n");
  const std::string text = ReadText(R"({"file_path":"a.txt"})");
  EXPECT_NE(text.find("x [cut]\n     3\tend\n"), std::string::npos);
  EXPECT_NE(text.find("offset=2, limit=1"), std::string::npos);
  EXPECT_LT(text.size(), 2300U);
  EXPECT_FALSE(files_.Find(Path("a.txt"))->whole());
  EXPECT_GT(ReadText(R"({"file_path":"a.txt","offset":2,"limit":1})").size(), 5000U);
  EXPECT_TRUE(files_.Find(Path("a.txt"))->whole());
}

TEST_F(ReadTest, AnEmptyFileSaysSoAndIsKnown) {
  Put("a.txt", "");
  EXPECT_EQ(ReadText(R"({"file_path":"a.txt"})"), "(The file is empty.)");
  EXPECT_TRUE(files_.Find(Path("a.txt"))->whole());
}

TEST_F(ReadTest, WhatIsNoTextFileHintsAtWhatToDo) {
  Put("bin", std::string("\x7F"
                         "ELF\0\0",
                         6));
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_NE(ReadText(R"({"file_path":"."})", true).find("Glob"), std::string::npos);
  EXPECT_NE(ReadText(R"({"file_path":"none"})", true).find("does not exist"), std::string::npos);
  EXPECT_NE(ReadText(R"({"file_path":"bin"})", true).find("binary file of 6 bytes"),
            std::string::npos);
  EXPECT_NE(ReadText(R"({"file_path":"fifo"})", true).find("not a regular file"),
            std::string::npos);
  ReadText(R"({"file_path":"/dev/zero"})", true);
}

TEST_F(ReadTest, InvalidTextIsShownWithAWarning) {
  Put("latin", "caf\xE9\n");
  const std::string text = ReadText(R"({"file_path":"latin"})");
  EXPECT_NE(text.find("caf\uFFFD"), std::string::npos);
  EXPECT_NE(text.find("Edit refuses"), std::string::npos);
}

TEST_F(ReadTest, AnImageBecomesABlob) {
  const std::string png = "\x89PNG\r\n\x1A\n....";
  Put("a.png", png);
  const Outcome outcome = Run("Read", R"({"file_path":"a.png"})");
  ASSERT_EQ(outcome.content.size(), 2U);
  const auto& image = std::get<protocol::ImageBlock>(outcome.content[1]);
  EXPECT_EQ(image.media_type, "image/png");
  EXPECT_EQ(blobs_[image.blob], png);
  EXPECT_FALSE(files_.Find(Path("a.png"))->whole());
  Put("big.png", png + std::string(6 << 20, 'x'));
  EXPECT_TRUE(Run("Read", R"({"file_path":"big.png"})").is_error);
}

TEST_F(ReadTest, ANotebookIsShownAsCellsAndByLinesWhenAsked) {
  Put("n.ipynb",
      R"({"cells":[{"cell_type":"markdown","source":["# T\n","x"]},)"
      R"({"cell_type":"code","source":"1+1","outputs":[{"output_type":"execute_result",)"
      R"("data":{"text/plain":["2"]}},{"output_type":"display_data","data":{"image/png":"iVB"}}]}]})");
  const std::string cells = ReadText(R"({"file_path":"n.ipynb"})");
  EXPECT_TRUE(
      cells.starts_with("<cell 1 markdown>\n# T\nx\n</cell>\n<cell 2 code>\n1+1\n<output>\n"
                        "2\n</output>\n<output>\n(image/png)\n</output>\n</cell>\n"))
      << cells;
  EXPECT_FALSE(files_.Find(Path("n.ipynb"))->whole());
  EXPECT_TRUE(ReadText(R"({"file_path":"n.ipynb","offset":1})").starts_with("     1\t{\"cells\""));
  Put("bad.ipynb", "{\"cells\": 3}");
  EXPECT_EQ(ReadText(R"({"file_path":"bad.ipynb"})"), "     1\t{\"cells\": 3}\n");
}

TEST_F(ReadTest, TheIntentNamesTheRealPath) {
  const auto intent =
      registry_.Find("Read")->Intend(Raw{R"({"file_path":"./x/../a"})"}, workspace_);
  ASSERT_TRUE(intent);
  EXPECT_FALSE(intent->effects);
  EXPECT_EQ(intent->reads, std::vector{Path("a")});
  EXPECT_EQ(intent->summary, "Read a");
  EXPECT_TRUE(registry_.Find("Read")->reads_only());
}

TEST_F(ReadTest, WhatAResultDidNotShowIsReadByItsName) {
  blobs_["abc"] = "one\ntwo\nthree\n";
  EXPECT_EQ(TextOfRun("Read", Strings({{"file_path", "blob:abc"}})),
            "     1\tone\n     2\ttwo\n     3\tthree\n");
  const Outcome part = Run("Read", R"({"file_path":"blob:abc","offset":3})");
  EXPECT_EQ(TextOf(part), "     3\tthree\n");
  EXPECT_TRUE(part.reads.empty());
  EXPECT_EQ(TextOfRun("Read", Strings({{"file_path", "blob:none"}}), true),
            "there is no such blob");
}

}  // namespace
}  // namespace stet::tool
