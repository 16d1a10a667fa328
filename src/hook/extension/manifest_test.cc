#include "hook/extension/manifest.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "base/temp_dir.h"
#include "hook/extension/reply.h"
#include "json/view.h"

namespace stet::hook {
namespace {

std::string ErrorOf(const std::string& toml) {
  const Result<ExtensionManifest> manifest = ParseManifest(toml, "extension.toml");
  return manifest ? "none" : manifest.error().Text();
}

std::string Block(std::string_view fence) {
  const std::string text = *ReadFile(SourceDir() + "/doc/format/extensions.md");
  const std::size_t begin = text.find(std::string(fence) + "\n") + fence.size() + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(ExtensionManifestTest, TheOneInTheDocumentIsRead) {
  const Result<ExtensionManifest> manifest = ParseManifest(Block("```toml"), "extension.toml");
  ASSERT_TRUE(manifest) << manifest.error().Text();
  EXPECT_EQ(manifest->id, "words");
  EXPECT_EQ(manifest->command, (std::vector<std::string>{"python3", "words.py"}));
  EXPECT_EQ(manifest->tools.size(), 1U);
  EXPECT_EQ(manifest->commands.size(), 1U);
  EXPECT_TRUE(manifest->Intercepts(intercept::kBeforeToolCall));
  EXPECT_FALSE(manifest->Intercepts(intercept::kAfterToolCall));
  EXPECT_TRUE(manifest->Hears("compact"));
  EXPECT_FALSE(manifest->Hears("rewind"));
  EXPECT_FALSE(manifest->fail_closed);
}

TEST(ExtensionManifestTest, TheMessagesInTheDocumentAreJson) {
  std::string lines = Block("```json");
  int count = 0;
  for (std::size_t at = 0; at < lines.size(); ++count) {
    const std::size_t end = lines.find('\n', at);
    const std::string line = lines.substr(at, end - at);
    at = end + 1;
    EXPECT_TRUE(Raw::From(line)) << line;
    EXPECT_EQ(JsonView(line)["jsonrpc"].StringOr(""), "2.0") << line;
  }
  EXPECT_GE(count, 6);
}

TEST(ExtensionManifestTest, WhatIsWrongIsSaid) {
  const std::string good = "id='a'\ncommand=['x']\n";
  EXPECT_EQ(ErrorOf(good), "none");
  EXPECT_NE(ErrorOf("id='../a'\ncommand=['x']\n").find("id must be"), std::string::npos);
  EXPECT_NE(ErrorOf("id='a'\n").find("command must be"), std::string::npos);
  EXPECT_NE(ErrorOf(good + "fail='maybe'\n").find("fail must be"), std::string::npos);
  EXPECT_NE(ErrorOf(good + "timeout=0\n").find("timeout must be"), std::string::npos);
  EXPECT_NE(ErrorOf(good + "comand='x'\n").find("a key that is not"), std::string::npos);
  EXPECT_NE(ErrorOf(good + "intercepts=['everything']\n").find("everything"), std::string::npos);
  EXPECT_NE(ErrorOf(good + "[[commands]]\nname='Do It'\n").find("small letters"),
            std::string::npos);
  EXPECT_NE(ErrorOf(good + "[[tools]]\nname='T'\ndescription='d'\nschema='no'\n").find("schema"),
            std::string::npos);
  EXPECT_NE(ErrorOf(good + "events='x'\n").find("wrong kind"), std::string::npos);
}

TEST(ExtensionManifestTest, TheLaterFolderCountsAndWhatIsDisabledOrWrongDoesNot) {
  TempDir dir;
  const auto put = [&](const std::string& path, const std::string& toml) {
    ASSERT_TRUE(MakeDirs(dir.Sub(path)));
    ASSERT_TRUE(ReplaceFile(dir.Sub(path) + "/extension.toml", toml, Durable::kNo));
  };
  put("user/b", "id='b'\nname='ours'\ncommand=['x']\n");
  put("user/a", "id='a'\ncommand=['x']\n");
  put("user/c", "id='c'\ncommand=['x']\n");
  put("user/d", "id='other'\ncommand=['x']\n");
  put("project/b", "id='b'\nname='theirs'\ncommand=['x']\n");
  const FoundExtensions found =
      FindExtensions({dir.Sub("user"), dir.Sub("project"), dir.Sub("none")}, {"c"});
  ASSERT_EQ(found.manifests.size(), 2U);
  EXPECT_EQ(found.manifests[0].id, "a");
  EXPECT_EQ(found.manifests[1].name, "theirs");
  EXPECT_EQ(found.manifests[1].folder, dir.Sub("project/b"));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_NE(found.problems[0].find("must be called other"), std::string::npos);
}

TEST(ExtensionReplyTest, OperationsAreRead) {
  using Kind = ContextOperation::Kind;
  const auto read = ReadOperations(Raw{R"({"operations":[
      {"op":"replace","events":["e1","e2"],"text":"t"},{"op":"hide","from":"e3","through":"e4"},
      {"op":"append","text":"more"}]})"});
  ASSERT_TRUE(read) << read.error().Text();
  EXPECT_EQ(*read, (std::vector<ContextOperation>{{Kind::kReplace, {"e1", "e2"}, "t"},
                                                  {Kind::kHide, {"e3", "e4"}, ""},
                                                  {Kind::kAppend, {}, "more"}}));
  EXPECT_TRUE(ReadOperations(Raw{"null"})->empty());
}

TEST(ExtensionReplyTest, AnswersThatAreWrongAreErrors) {
  for (const char* wrong : {R"({"operations":{}})", R"({"operations":[{"op":"delete"}]})",
                            R"({"operations":[{"op":"append","text":" "}]})",
                            R"({"operations":[{"op":"replace","text":"x"}]})",
                            R"({"operations":[{"op":"hide","from":"e"}]})"})
    EXPECT_FALSE(ReadOperations(Raw{wrong})) << wrong;
  EXPECT_FALSE(ReadToolReply(Raw{"{}"}));
  EXPECT_FALSE(ReadToolReply(Raw{R"("text")"}));
  EXPECT_FALSE(ReadCommandReply(Raw{"[]"}));
  EXPECT_FALSE(ReadCommandReply(Raw{R"({"text":1})"}));
  EXPECT_TRUE(ReadToolReply(Raw{R"({"content":"x","isError":true})"})->is_error);
}

}  // namespace
}  // namespace stet::hook
