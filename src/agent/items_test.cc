#include "agent/items.h"

#include <gtest/gtest.h>

#include "agent/call_text.h"
#include "agent/progress.h"
#include "agent/title.h"
#include "agent/workbench.h"
#include "log/log_fixture.h"

namespace stet::agent {
namespace {

class ItemsTest : public log::LogTest {
 protected:
  ItemsTest() { log_ = Create(); }

  void AddCallAndResult() {
    protocol::AssistantMessage message;
    protocol::ToolCallBlock call;
    call.tool_call_id = "c" + std::to_string(++calls_);
    call.tool_name = "Read";
    call.args = Raw{"{}"};
    message.message.blocks = {call};
    ASSERT_TRUE(AppendEvent(*log_, std::move(message), {}));
    protocol::ToolResult result;
    result.tool_call_id = call.tool_call_id;
    result.content = Raw{"[]"};
    ASSERT_TRUE(AppendEvent(*log_, std::move(result), {}));
  }
  void AddModelCall() {
    protocol::ModelCall call;
    call.call_id = "mc";
    call.phase = "start";
    ASSERT_TRUE(AppendEvent(*log_, std::move(call), {}));
  }
  std::string PlacementOf(NewItem item) {
    if (const Status added = AppendItem(*log_, std::move(item), {}); !added)
      return added.error().message;
    const auto event = log_->EventAt(log_->index().leaf());
    return std::get<protocol::HarnessItem>(event->payload).placement;
  }
  static NewItem Notice() { return {.kind = item::kRuntimeNotice, .content = "it ended"}; }

  std::unique_ptr<log::Log> log_;
  int calls_ = 0;
};

TEST_F(ItemsTest, AnItemIsMergedIntoAResultThatNoRequestHasCarried) {
  AddCallAndResult();
  EXPECT_EQ(PlacementOf(Notice()), "merge");
  EXPECT_EQ(PlacementOf(Notice()), "merge") << "behind one that was merged";
  AddModelCall();
  EXPECT_EQ(PlacementOf(Notice()), "own") << "what was sent is never rewritten";
  AddCallAndResult();
  EXPECT_EQ(PlacementOf(Notice()), "merge");
}

TEST_F(ItemsTest, BehindAMessageAnItemStandsAlone) {
  EXPECT_EQ(PlacementOf(Notice()), "own");
  protocol::UserMessage message;
  message.source = "user";
  ASSERT_TRUE(AppendEvent(*log_, std::move(message), {}));
  EXPECT_EQ(PlacementOf(Notice()), "own");
}

TEST_F(ItemsTest, WhatIsNoItemFails) {
  EXPECT_NE(PlacementOf({.kind = "gossip", .content = "x"}), "own");
  EXPECT_NE(PlacementOf({.kind = item::kSteer, .origin = "model", .content = "x"}), "own");
  EXPECT_NE(PlacementOf({.kind = item::kSteer, .origin = "user", .content = " \n"}), "own");
}

TEST(ProgressTest, OnlyStepsThatBringNothingNewCount) {
  Progress progress;
  EXPECT_FALSE(progress.Stalls({"a"}));
  for (int i = 1; i < Progress::kStepsBeforeAsking; ++i) EXPECT_FALSE(progress.Stalls({"a"}));
  EXPECT_TRUE(progress.Stalls({"a"}));
  EXPECT_FALSE(progress.Stalls({"a"})) << "the count starts again";
  Progress tests;
  // The same test after each edit: the edits are new.
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(tests.Stalls({"test", "edit" + std::to_string(i)}));
}

TEST(CallTextTest, CallsThatAreWrittenAsTextAreFound) {
  EXPECT_TRUE(HasCallText("I do.\n<tool_call>\n{\"name\": \"Bash\"}"));
  EXPECT_TRUE(HasCallText("<function_calls><invoke name=\"x\">"));
  EXPECT_FALSE(HasCallText("The tag <tool_call> is not closed here."));
  EXPECT_FALSE(HasCallText("plain"));
}

TEST(TitleTest, AReplyIsMadeATitle) {
  EXPECT_EQ(TitleFrom("\"Fix the parser.\"\nMore"), "Fix the parser");
  EXPECT_EQ(TitleFrom("# **Fix**"), "Fix");
  EXPECT_EQ(TitleFrom("  \n"), "");
  EXPECT_LE(TitleFrom(std::string(1000, 'x')).size(), 120U);
  EXPECT_EQ(TitleFrom("\u4fee\u590d\u89e3\u6790\u5668"), "\u4fee\u590d\u89e3\u6790\u5668");
}

}  // namespace
}  // namespace stet::agent
