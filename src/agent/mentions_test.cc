#include "agent/mentions.h"

#include <gtest/gtest.h>

#include "agent/workbench_fixture.h"
#include "base/fs.h"

namespace stet::agent {
namespace {

/// Gives what is in the file that its arguments name, whatever else they say.
class PlainRead final : public tool::Tool {
 public:
  explicit PlainRead(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] std::string_view name() const override { return "Read"; }
  [[nodiscard]] std::string_view description() const override { return "reads"; }
  [[nodiscard]] std::string_view schema() const override { return R"({"type":"object"})"; }
  [[nodiscard]] bool reads_only() const override { return true; }
  [[nodiscard]] Result<tool::Intent> Intend(const Raw&, const tool::Workspace&) const override {
    return tool::Intent();
  }
  Async<tool::Outcome> Run(const Raw&, tool::Call&) override {
    co_return tool::Say(ReadFile(path_).value_or(""));
  }

 private:
  std::string path_;
};

class MentionsTest : public WorkbenchTest {
 protected:
  MentionsTest() {
    AddTool(std::make_unique<PlainRead>(path_));
    OpenTools();
    workspace_.project = workspace_.cwd = temp_.path();
  }
  Status Mention(const std::string& text) {
    return loop_.RunUntilDone(AppendMentions(*bench_, text, stamp_, {}));
  }

  std::string path_ = temp_.Sub("a.txt");
};

TEST_F(MentionsTest, APathBehindAnAtThatBeginsAWordIsAMention) {
  EXPECT_EQ(FindMentions("see @src/a.cc, (@b.txt) and @\"c d.md\"; mail me@x.org @"),
            (std::vector<std::string>{"src/a.cc", "b.txt", "c d.md"}));
  EXPECT_EQ(FindMentions("@a @a @b."), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(FindMentions("").empty());
}

TEST_F(MentionsTest, WhatAMentionedFileHoldsIsToldWithoutSecrets) {
  bench_->redactor = Redactor(std::map<std::string, std::string>{{"vault:TOKEN", "sesame-open"}});
  ASSERT_TRUE(ReplaceFile(path_, "key=sesame-open\n", Durable::kNo));
  ASSERT_TRUE(Mention("look at @a.txt"));
  const std::vector<protocol::HarnessItem> items = All<protocol::HarnessItem>();
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].item.content, "The user mentions a.txt. It holds:\nkey=[vault:TOKEN]\n");
}

TEST_F(MentionsTest, WhatIsNoFileOrMayNotBeReadIsATextLikeAnyOther) {
  ASSERT_TRUE(Mention("look at @b.txt and write to me@x.org"));
  ASSERT_TRUE(ReplaceFile(path_, "text\n", Durable::kNo));
  bench_->settings = CurrentSettings(
      {.rules = {.mode = policy::Mode::kBypass, .deny = {{.tool = "Read", .specifier = ""}}}});
  ASSERT_TRUE(Mention("look at @a.txt"));
  EXPECT_TRUE(All<protocol::HarnessItem>().empty());
}

}  // namespace
}  // namespace stet::agent
