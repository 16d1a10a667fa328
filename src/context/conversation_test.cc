#include "context/conversation.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"

namespace stet::context {
namespace {

class ConversationTest : public testing::Test {
 protected:
  ConversationTest() {
    protocol::Header header;
    header.session_id = "ses_test";
    log_ = *log::Log::Create(dir_.path() + "/ses_test", header, {.mode = log::Mode::kWrite});
  }

  std::string Append(protocol::Payload payload) {
    std::vector<log::Draft> batch;
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = {}});
    const auto appended = log_->Append(std::move(batch));
    EXPECT_TRUE(appended) << appended.error().Text();
    return appended ? appended->ids[0] : "";
  }
  std::string User(const std::string& text) {
    protocol::UserMessage message;
    message.source = "user";
    message.message.blocks.emplace_back(protocol::TextBlock{.text = text});
    return Append(std::move(message));
  }
  std::string Assistant(const std::string& text, const std::vector<std::string>& calls) {
    protocol::AssistantMessage message;
    message.message.model = "p/m";
    message.message.blocks.emplace_back(protocol::TextBlock{.text = text});
    for (const std::string& id : calls) {
      message.message.blocks.emplace_back(
          protocol::ToolCallBlock{.tool_call_id = id, .tool_name = "T", .args = Raw{"{}"}});
    }
    return Append(std::move(message));
  }
  std::string Answer(const std::string& id, const std::string& text) {
    protocol::ToolResult result;
    result.tool_call_id = id;
    result.content = Raw{"[{\"type\":\"text\",\"text\":\"" + text + "\"}]"};
    return Append(std::move(result));
  }
  std::string Remind(const std::string& placement, const std::string& text) {
    protocol::HarnessItem item;
    item.placement = placement;
    item.item.content = text;
    return Append(std::move(item));
  }

  std::string Compact(const std::string& summary, const std::optional<std::string>& keep_after) {
    protocol::Compaction compact;
    compact.trigger = "manual";
    compact.summary = summary;
    compact.keep_after_event_id = keep_after;
    compact.capsule = Raw{"{}"};
    return Append(std::move(compact));
  }
  std::string Replace(const std::string& event, const std::string& text) {
    protocol::ContentReplacement replacement;
    replacement.event_ids = {event};
    replacement.preview = text;
    return Append(std::move(replacement));
  }
  std::string Snip(const std::string& from, const std::string& through, bool undo = false) {
    protocol::Snip snip;
    snip.from = from;
    snip.through = through;
    if (undo) snip.undo = true;
    return Append(std::move(snip));
  }

  /// "u:text a:text+id r:id=text", one after the other.
  static std::string Text(const std::vector<provider::Entry>& entries) {
    std::string out;
    for (const provider::Entry& entry : entries) {
      if (!out.empty()) out += " | ";
      if (const auto* user = std::get_if<provider::UserInput>(&entry)) {
        out += "u:" + protocol::PlainText(user->blocks);
      } else if (const auto* turn = std::get_if<provider::AssistantTurn>(&entry)) {
        out += "a:" + protocol::PlainText(turn->blocks);
      } else {
        const auto& result = std::get<provider::ToolResult>(entry);
        out += "r:" + result.tool_call_id + "=" + protocol::PlainText(result.content);
      }
    }
    return out;
  }
  std::string Shown() {
    EXPECT_TRUE(conversation_.Update(*log_));
    // What is lent is what would be copied, given back or not.
    const std::string copied = Text(conversation_.Entries());
    std::vector<provider::Entry> lent = conversation_.Lend();
    EXPECT_EQ(Text(lent), copied);
    if (++shown_ % 3 != 0) conversation_.TakeBack(std::move(lent));
    return copied;
  }

  TempDir dir_;
  std::unique_ptr<log::Log> log_;
  Conversation conversation_;
  int shown_ = 0;
};

TEST_F(ConversationTest, AStepIsShownInTheOrderOfItsCallsWhicheverFinishedFirst) {
  User("go");
  Assistant("two", {"a", "b"});
  Answer("b", "second");
  EXPECT_EQ(Shown(), "u:go | a:two | r:a=The result of this call was lost. | r:b=second");
  Answer("a", "first");
  EXPECT_EQ(Shown(), "u:go | a:two | r:a=first | r:b=second");
  User("on");
  EXPECT_EQ(Shown(), "u:go | a:two | r:a=first | r:b=second | u:on");
}

TEST_F(ConversationTest, AReminderIsMergedIntoTheResultBeforeItOrStandsAlone) {
  User("go");
  Assistant("one", {"a"});
  Answer("a", "done");
  Remind("merge", "note");
  EXPECT_EQ(Shown(), "u:go | a:one | r:a=done\n\n<system-reminder>\nnote\n</system-reminder>");
  Remind("own", "other");
  EXPECT_EQ(Shown(),
            "u:go | a:one | r:a=done\n\n<system-reminder>\nnote\n</system-reminder> | "
            "u:<system-reminder>\nother\n</system-reminder>");
}

TEST_F(ConversationTest, ARewindShowsTheOlderPathAndNothingOfTheOther) {
  const std::string first = User("one");
  Assistant("answer", {});
  User("two");
  EXPECT_EQ(Shown(), "u:one | a:answer | u:two");
  ASSERT_TRUE(log_->Rewind(first, log_->leaf_id()));
  EXPECT_EQ(Shown(), "u:one");
  User("three");
  EXPECT_EQ(Shown(), "u:one | u:three");
}

TEST_F(ConversationTest, ARewindTakesAMergedReminderBack) {
  User("go");
  Assistant("one", {"a"});
  const std::string done = Answer("a", "done");
  Remind("merge", "note");
  EXPECT_NE(Shown().find("note"), std::string::npos);
  ASSERT_TRUE(log_->Rewind(done, log_->leaf_id()));
  EXPECT_EQ(Shown(), "u:go | a:one | r:a=done");
}

TEST_F(ConversationTest, WhatSaysNothingIsLeftOutAndTheUserBegins) {
  User(" \n");
  Assistant("answer", {});
  User("");
  User("go");
  EXPECT_EQ(
      Shown(),
      "u:<system-reminder>\nThe beginning of this conversation is lost.\n</system-reminder> | "
      "a:answer | u:go");
}

TEST_F(ConversationTest, ResultsWithoutACallStandBehindThoseThatHaveOne) {
  const auto event = [](protocol::Payload payload) {
    protocol::Event one;
    one.payload = std::move(payload);
    return one;
  };
  const auto result = [](const std::string& id, const std::string& text) {
    protocol::ToolResult one;
    one.tool_call_id = id;
    one.content = Raw{"\"" + text + "\""};
    return one;
  };
  protocol::UserMessage user;
  user.message.blocks.emplace_back(protocol::TextBlock{.text = "go"});
  protocol::AssistantMessage turn;
  for (const char* id : {"a", "b"})
    turn.message.blocks.emplace_back(
        protocol::ToolCallBlock{.tool_call_id = id, .tool_name = "T", .args = Raw{"{}"}});
  conversation_ = Conversation::Of(std::vector<protocol::Event>{
      event(user), event(turn), event(result("b", "second")), event(result("b", "again")),
      event(result("x", "lost")), event(result("a", "first"))});
  EXPECT_EQ(Text(conversation_.Entries()),
            "u:go | a: | r:a=first | r:b=second | "
            "u:<system-reminder>\nA tool call that was lost gave:\nagain\n</system-reminder> | "
            "u:<system-reminder>\nA tool call that was lost gave:\nlost\n</system-reminder>");
}

TEST_F(ConversationTest, ABarrierKeepsOutWhatItDoesNotKeep) {
  User("one");
  const std::string first = Assistant("answer", {});
  User("two");
  Assistant("work", {"a"});
  const std::string done = Answer("a", "done");
  EXPECT_EQ(Shown(), "u:one | a:answer | u:two | a:work | r:a=done");
  const std::string summary = "u:<system-reminder>\nS\n</system-reminder>";
  Compact("S", first);
  EXPECT_EQ(Shown(), summary + " | u:two | a:work | r:a=done");
  EXPECT_EQ(conversation_.parts().size(), 4U);  // The barrier itself is one.
  User("three");
  EXPECT_EQ(Shown(), summary + " | u:two | a:work | r:a=done | u:three");
  // A later one may keep what the earlier one kept; that one is nothing then.
  Compact("S", done);
  EXPECT_EQ(Shown(), summary + " | u:three");
  // A rewind to before it takes it back.
  ASSERT_TRUE(log_->Rewind(done, log_->leaf_id()));
  EXPECT_EQ(Shown(), "u:one | a:answer | u:two | a:work | r:a=done");
}

TEST_F(ConversationTest, ABarrierThatKeepsNothingBeginsAnew) {
  User("one");
  Assistant("answer", {});
  Compact("S", std::nullopt);
  EXPECT_EQ(Shown(), "u:<system-reminder>\nS\n</system-reminder>");
  ASSERT_EQ(conversation_.parts().size(), 1U);
  EXPECT_EQ(conversation_.barrier(), conversation_.parts()[0].event);
}

TEST_F(ConversationTest, AReplacedResultIsShownAsItsReplacement) {
  User("go");
  Assistant("one", {"a"});
  const std::string early = Answer("a", "long");
  EXPECT_EQ(Shown(), "u:go | a:one | r:a=long");
  Replace(early, "short");
  EXPECT_EQ(Shown(), "u:go | a:one | r:a=short");
  Remind("merge", "note");
  EXPECT_EQ(Shown(), "u:go | a:one | r:a=short\n\n<system-reminder>\nnote\n</system-reminder>");
  Assistant("two", {"b"});
  const std::string late = Answer("b", "longer");
  Shown();
  // Also when it has long been settled.
  Assistant("three", {});
  User("on");
  Shown();
  Replace(late, "shorter");
  EXPECT_TRUE(Shown().ends_with("a:two | r:b=shorter | a:three | u:on"));
  // What was decided after a rewind does not reach the other branch.
  ASSERT_TRUE(log_->Rewind(late, log_->leaf_id()));
  EXPECT_TRUE(Shown().ends_with("a:two | r:b=longer"));
}

TEST_F(ConversationTest, ASnippedTurnIsHiddenUntilItIsShownAgain) {
  const std::string from = User("one");
  Assistant("work", {"a"});
  Answer("a", "done");
  const std::string through = Assistant("answer", {});
  User("two");
  Assistant("reply", {});
  Shown();
  Snip(from, through);
  EXPECT_EQ(Shown(), "u:two | a:reply");
  User("three");
  EXPECT_EQ(Shown(), "u:two | a:reply | u:three");
  Snip(from, through, true);
  EXPECT_EQ(Shown(), "u:one | a:work | r:a=done | a:answer | u:two | a:reply | u:three");
}

TEST_F(ConversationTest, AnotherReaderOfTheSameLogSeesTheSame) {
  User("go");
  Assistant("two", {"a", "b"});
  Answer("b", "second");
  Answer("a", "first");
  Remind("merge", "note");
  const std::string shown = Shown();
  Conversation fresh;
  ASSERT_TRUE(fresh.Update(*log_));
  std::swap(conversation_, fresh);
  EXPECT_EQ(Shown(), shown);
}

}  // namespace
}  // namespace stet::context
