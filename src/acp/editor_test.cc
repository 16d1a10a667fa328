#include "acp/editor.h"

#include <gtest/gtest.h>

#include "json/view.h"
#include "protocol/client_methods.h"

namespace stet::acp {
namespace {

namespace method = protocol::method;

class EditorTest : public testing::Test {
 protected:
  /// The request that the client is sent.
  std::string Asked(std::string_view method, const std::string& params) {
    written_.clear();
    editor_.Ask(std::string(method), Raw{params},
                [this](const Result<Raw>& said) { said_.push_back(said); });
    return written_;
  }
  void Answer(const std::string& request, std::string_view result) {
    line_.Feed(rpc::ResultLine(Raw{std::string(JsonView(request)["id"].text())}, result) + "\n");
  }
  std::string Said() {
    if (said_.empty()) return "(nothing)";
    const Result<Raw> said = std::move(said_.back());
    said_.clear();
    return said ? said->text : said.error().Text();
  }

  std::string written_;
  rpc::JsonLines line_{{}, {}, [this](std::string line) { written_ = std::move(line); }};
  Editor editor_{"s_1", {"read"}, line_};
  std::vector<Result<Raw>> said_;
};

TEST_F(EditorTest, WhatAHostAsksIsARequestToTheClient) {
  const std::string read =
      Asked(method::FileRead::kInfo.name, R"({"sessionId":"x","path":"/a \"b\""})");
  EXPECT_EQ(JsonView(read)["method"].StringOr(""), "fs/read_text_file");
  EXPECT_EQ(JsonView(read)["params"].text(), R"({"sessionId":"s_1","path":"/a \"b\""})");
  const std::string write = Asked(method::FileWrite::kInfo.name, R"({"path":"/a","text":"t\n"})");
  EXPECT_EQ(JsonView(write)["params"].text(), R"({"sessionId":"s_1","path":"/a","content":"t\n"})");
  const std::string open = Asked(
      method::TerminalOpen::kInfo.name,
      R"({"command":"bash","args":["-c","x"],"environment":["A=b=c","D"],"cwd":"/p","maxBytes":9})");
  EXPECT_EQ(
      JsonView(open)["params"].text(),
      R"({"sessionId":"s_1","command":"bash","args":["-c","x"],"env":[{"name":"A","value":"b=c"},)"
      R"({"name":"D","value":""}],"cwd":"/p","outputByteLimit":9})");
  EXPECT_NE(JsonView(read)["id"].text(), JsonView(write)["id"].text());
}

TEST_F(EditorTest, AnswersAreHandedBackAsTheHostHasThemOnce) {
  const std::string read = Asked(method::FileRead::kInfo.name, R"({"path":"/a"})");
  Answer(R"({"id":99})", "{}");
  EXPECT_EQ(Said(), "(nothing)");
  Answer(read, R"({"content":"t"})");
  EXPECT_EQ(Said(), R"({"text":"t","truncated":false})");
  Answer(read, R"({"content":"t"})");
  EXPECT_EQ(Said(), "(nothing)");
  const std::string text = Asked(method::TerminalText::kInfo.name, R"({"terminalId":"t"})");
  Answer(text, R"({"output":"o","truncated":true,"exitStatus":null})");
  EXPECT_EQ(Said(), R"({"text":"o","truncated":true})");
  const std::string end = Asked(method::TerminalAwait::kInfo.name, R"({"terminalId":"t"})");
  Answer(end, R"({"exitCode":3,"signal":null})");
  EXPECT_EQ(Said(), R"({"exitCode":3,"signal":null})");
  const std::string write = Asked(method::FileWrite::kInfo.name, R"({"path":"/a","text":""})");
  Answer(write, "null");
  EXPECT_EQ(Said(), "{}");
}

TEST_F(EditorTest, WhatMakesNoSenseAndWhatFailsIsAnError) {
  for (const char* wrong : {"null", "7", "{}", R"({"content":7})", R"(["content"])"}) {
    Answer(Asked(method::FileRead::kInfo.name, R"({"path":"/a"})"), wrong);
    EXPECT_NE(Said().find("no text"), std::string::npos) << wrong;
  }
  const std::string write = Asked(method::FileWrite::kInfo.name, R"({"path":"/a","text":""})");
  line_.Feed(rpc::ErrorLine(Raw{std::string(JsonView(write)["id"].text())}, 1, "it is locked") +
             "\n");
  EXPECT_NE(Said().find("it is locked"), std::string::npos);
  EXPECT_EQ(Asked("file.shred", "{}"), "");
  EXPECT_NE(Said().find("knows no file.shred"), std::string::npos);
}

TEST_F(EditorTest, WhoeverWaitsAtTheEndIsToldAndSoIsWhoeverAsksLater) {
  Asked(method::FileRead::kInfo.name, R"({"path":"/a"})");
  editor_.End();
  EXPECT_NE(Said().find("has gone"), std::string::npos);
  EXPECT_EQ(Asked(method::FileRead::kInfo.name, R"({"path":"/a"})"), "");
  EXPECT_NE(Said().find("has gone"), std::string::npos);
}

}  // namespace
}  // namespace stet::acp
