#include "provider/offline/offline.h"

#include <gtest/gtest.h>

#include "base/loop.h"
#include "provider/reply_fixture.h"

namespace stet::provider {
namespace {

using protocol::TextBlock;
using protocol::ToolCallBlock;

/// Asks as the loop does: what the model calls is answered, and the answers go back with the rest.
class OfflineTest : public testing::Test {
 protected:
  OfflineTest() {
    for (const char* name : {"Read", "Glob", "Grep", "Bash", "Edit", "Write"})
      request_.tools.push_back({.name = name, .description = ""});
  }

  void Say(std::string text) {
    UserInput input;
    input.blocks.emplace_back(TextBlock{.text = std::move(text)});
    request_.entries.emplace_back(std::move(input));
  }

  /// Of every call in the last reply.
  void Result(const std::string& text, bool is_error = false) {
    AssistantTurn turn{.blocks = call_.reply.content.blocks, .model = call_.model.FullName()};
    request_.entries.emplace_back(turn);
    for (const protocol::Block& block : turn.blocks) {
      const auto* call = std::get_if<ToolCallBlock>(&block);
      if (call == nullptr) continue;
      ToolResult result{.tool_call_id = call->tool_call_id, .content = {}, .is_error = is_error};
      result.content.emplace_back(TextBlock{.text = text});
      request_.entries.emplace_back(std::move(result));
    }
  }

  /// What it says, and what it calls in a line of its own.
  std::string Ask(const CancelToken& cancel = {}) {
    OfflineProvider provider(random_);
    const stet::Result<WireRequest> wire = provider.Encode(request_);
    EXPECT_TRUE(wire) << wire.error().Text();
    wire_bytes_ = wire->body.size();
    events_.text.clear();
    Loop loop;
    call_ = loop.RunUntilDone(provider.Stream(request_, *wire, events_, cancel));
    std::string out;
    for (const protocol::Block& block : call_.reply.content.blocks) {
      if (const auto* text = std::get_if<TextBlock>(&block)) out += text->text + "\n";
      if (const auto* call = std::get_if<ToolCallBlock>(&block))
        out += call->tool_name + call->args.text + "\n";
    }
    return out;
  }

  std::string AskFirst(std::string text) {
    request_.entries.clear();
    Say(std::move(text));
    return Ask();
  }

  Random random_{1};
  Request request_;
  EventText events_;
  CallResult call_;
  std::size_t wire_bytes_ = 0;
};

TEST_F(OfflineTest, EveryKindOfRequestGivesItsCall) {
  EXPECT_EQ(AskFirst("read a.txt"), "Reading a.txt.\nRead{\"file_path\":\"a.txt\"}\n");
  EXPECT_EQ(call_.reply.content.stop_reason, stop::kToolUse);
  EXPECT_EQ(AskFirst("list *.cc"), "Listing *.cc.\nGlob{\"pattern\":\"*.cc\"}\n");
  EXPECT_EQ(AskFirst("search x in src"),
            "Searching x in src.\nGrep{\"pattern\":\"x\",\"path\":\"src\"}\n");
  EXPECT_EQ(AskFirst("run ls -l"), "Running ls -l\nBash{\"command\":\"ls -l\"}\n");
  EXPECT_EQ(AskFirst("write a: b"), "Writing a.\nWrite{\"file_path\":\"a\",\"content\":\"b\"}\n");
  EXPECT_EQ(AskFirst("replace a with b in c"), "Reading c.\nRead{\"file_path\":\"c\"}\n");
  Result("a");
  EXPECT_EQ(Ask(),
            "Replacing a with b in c.\n"
            "Edit{\"file_path\":\"c\",\"old_string\":\"a\",\"new_string\":\"b\"}\n");
}

TEST_F(OfflineTest, WhatAToolGaveIsReportedAndTheTurnEnds) {
  AskFirst("read a.txt");
  Result("the content");
  EXPECT_EQ(Ask(), "Done. Read gave:\n\nthe content\n");
  EXPECT_EQ(call_.reply.content.stop_reason, stop::kEnd);
  EXPECT_FALSE(call_.reply.failure);
  AskFirst("run true");
  Result("");
  EXPECT_EQ(Ask(), "Done.\n");
}

TEST_F(OfflineTest, ALongResultIsCutBetweenLetters) {
  AskFirst("read a.txt");
  std::string text;
  for (int i = 0; i < 1001; ++i) text += "ä";
  Result("x" + text);
  const std::string said = Ask();
  EXPECT_TRUE(said.starts_with("Done. Read gave:\n\nxä"));
  EXPECT_TRUE(said.ends_with("ä\n[3 more bytes]\n") || said.ends_with("ä\n[4 more bytes]\n"))
      << said.substr(said.size() - 40);
  EXPECT_TRUE(IsValidUtf8(said));
}

TEST_F(OfflineTest, APlanGoesOnFromTheEntriesOfItsRequest) {
  AskFirst("run a then run b then read c");
  Result("of a");
  EXPECT_EQ(Ask(), "Running b\nBash{\"command\":\"b\"}\n");
  Result("of b");
  EXPECT_EQ(Ask(), "Reading c.\nRead{\"file_path\":\"c\"}\n");
  Result("of c");
  EXPECT_EQ(Ask(), "Done. Read gave:\n\nof c\n");
}

TEST_F(OfflineTest, ANewRequestForgetsTheOldPlan) {
  AskFirst("run a then run b");
  Result("of a");
  Say("read c");
  EXPECT_EQ(Ask(), "Reading c.\nRead{\"file_path\":\"c\"}\n");
}

TEST_F(OfflineTest, WhatTheHarnessSaysIsNoRequest) {
  AskFirst("run a then run b");
  Result("of a");
  Say("<system-reminder>read secrets</system-reminder>");
  EXPECT_EQ(Ask(), "Running b\nBash{\"command\":\"b\"}\n");
  Result("of b\n\n<system-reminder>\nIt is late.\n</system-reminder>");
  EXPECT_EQ(Ask(), "Done. Bash gave:\n\nof b\n");
}

TEST_F(OfflineTest, AnErrorStopsThePlan) {
  AskFirst("run a then run b then read c");
  Result("no such command", true);
  EXPECT_EQ(Ask(), "Bash did not succeed:\n\nno such command\n\nI did not go on; 2 left undone.\n");
  EXPECT_EQ(call_.reply.content.stop_reason, stop::kEnd);
  AskFirst("run a");
  Result("no", true);
  EXPECT_EQ(Ask(), "Bash did not succeed:\n\nno\n");
}

TEST_F(OfflineTest, WhatItDoesNotUnderstandItAnswersWithWhatItDoes) {
  for (const char* text : {"hello", "", "explain this then read a", "日本語"}) {
    const std::string said = AskFirst(text);
    EXPECT_TRUE(said.starts_with("I am stet's built-in offline model")) << said;
    EXPECT_EQ(call_.reply.content.stop_reason, stop::kEnd);
  }
  request_.entries.clear();
  EXPECT_TRUE(Ask().starts_with("I am stet's built-in offline model")) << "nothing was asked";
}

TEST_F(OfflineTest, AToolThatIsNotThereIsNotCalled) {
  request_.tools.clear();
  EXPECT_EQ(AskFirst("run ls"), "For this I need the tool Bash, which I am not given here.\n");
}

TEST_F(OfflineTest, TokensAreCountedByBytesAndCostNothing) {
  AskFirst("run ls");
  ASSERT_TRUE(call_.reply.content.usage);
  EXPECT_EQ(call_.reply.content.usage->input, static_cast<std::int64_t>(wire_bytes_ / 4));
  EXPECT_EQ(
      call_.reply.content.usage->output,
      static_cast<std::int64_t>(std::string_view("Running ls{\"command\":\"ls\"}").size() / 4 + 1));
  EXPECT_TRUE(call_.reply.usage_final);
  ASSERT_EQ(call_.attempts.size(), 1U);
  EXPECT_EQ(call_.attempts[0].outcome, "done");
  EXPECT_EQ(call_.attempts[0].usage, call_.reply.content.usage);
  EXPECT_EQ(call_.model.FullName(), "stet/offline");
  EXPECT_EQ(call_.model.prices, Prices());
}

TEST_F(OfflineTest, TheSameRequestGivesTheSameReply) {
  const std::string said = AskFirst("run a then read b");
  const std::string events = events_.text;
  random_ = Random(1);
  EXPECT_EQ(Ask(), said);
  EXPECT_EQ(events_.text, events);
  EXPECT_EQ(Ask(), said) << "but for the ids";
  EXPECT_NE(events_.text, events);
}

TEST_F(OfflineTest, CancelledItSaysNothing) {
  Say("read a");
  CancelSource source;
  source.Cancel();
  EXPECT_EQ(Ask(source.token()), "");
  ASSERT_TRUE(call_.reply.failure);
  EXPECT_EQ(call_.reply.failure->kind, FailureKind::kCancelled);
  EXPECT_TRUE(call_.reply.partial);
  EXPECT_EQ(call_.attempts[0].outcome, "cancelled");
  EXPECT_EQ(events_.text, "");
}

}  // namespace
}  // namespace stet::provider
