#include "provider/reply_builder.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

class ReplyBuilderTest : public testing::Test, public Sink {
 protected:
  void On(const StreamEvent& event) override { events_ += Encode(event) + "\n"; }

  /// What was heard since the last call.
  std::string Heard() { return std::exchange(events_, ""); }

  /// The text that names the next id, whatever it is.
  static std::string WithoutIds(std::string text) {
    constexpr std::string_view kMark = "\"toolCallId\":\"";
    for (std::size_t at = text.find(kMark); at != std::string::npos;
         at = text.find(kMark, at + 1)) {
      const std::size_t begin = at + kMark.size();
      text.replace(begin, text.find('"', begin) - begin, "ID");
    }
    return text;
  }

  Model model_{.provider = "acme", .id = "m", .dialect = Dialect::kOpenAiCompletions};
  Random ids_{1};
  std::string events_;
  ReplyBuilder builder_{model_, *this, ids_};
};

const std::string kStart = "{\"type\":\"message_start\",\"model\":\"\"}\n";

TEST_F(ReplyBuilderTest, BlocksAreNumberedInTheOrderTheyShow) {
  builder_.Start("m-2");
  builder_.Start("later");
  const auto first = builder_.OpenText();
  const auto second = builder_.OpenThinking();
  builder_.Append(second, "b");
  builder_.Append(first, "a");
  builder_.Close(first);
  builder_.End();
  EXPECT_EQ(Heard(), R"({"type":"message_start","model":"m-2"}
{"type":"block_start","index":0,"kind":"thinking"}
{"type":"thinking_delta","index":0,"text":"b"}
{"type":"block_start","index":1,"kind":"text"}
{"type":"text_delta","index":1,"text":"a"}
{"type":"block_end","index":1,"block":{"type":"text","text":"a"}}
{"type":"block_end","index":0,"block":{"type":"thinking","text":"b","dialect":"openai-completions"}}
{"type":"stopped","reason":"end"}
{"type":"message_end"}
)");
  const Reply reply = builder_.TakeReply();
  EXPECT_FALSE(reply.partial);
  EXPECT_EQ(reply.content.model, "acme/m");
  ASSERT_EQ(reply.content.blocks.size(), 2);
  EXPECT_TRUE(std::holds_alternative<protocol::ThinkingBlock>(reply.content.blocks[0]));
}

TEST_F(ReplyBuilderTest, AnEmptyBlockNeverShows) {
  builder_.Append(builder_.OpenText(), "");
  builder_.Close(builder_.OpenThinking());
  builder_.End();
  EXPECT_EQ(Heard(),
            kStart + "{\"type\":\"stopped\",\"reason\":\"end\"}\n{\"type\":\"message_end\"}\n");
  EXPECT_TRUE(builder_.TakeReply().content.blocks.empty());
}

TEST_F(ReplyBuilderTest, ASignatureAloneIsSomethingToKeep) {
  const auto block = builder_.OpenThinking();
  builder_.SetSignature(block, "first");
  builder_.SetSignature(block, "S=");
  builder_.End();
  EXPECT_EQ(builder_.TakeReply().content.blocks,
            (protocol::Blocks{
                protocol::ThinkingBlock{.signature = "S=", .dialect = "openai-completions"}}));
}

TEST_F(ReplyBuilderTest, ACallStartsWhenItsNameIsKnown) {
  const auto call = builder_.OpenToolCall("", "");
  builder_.AppendArgs(call, "{\"a\"");
  EXPECT_EQ(Heard(), kStart);
  builder_.SetNativeId(call, "call_1");
  builder_.SetNativeId(call, "call_2");
  builder_.SetToolName(call, "read");
  builder_.SetToolName(call, "write");
  builder_.AppendArgs(call, ":1}");
  builder_.Close(call);
  EXPECT_EQ(
      WithoutIds(Heard()),
      R"({"type":"block_start","index":0,"kind":"tool_call","toolCallId":"ID","toolName":"read"}
{"type":"tool_call_delta","index":0,"text":"{\"a\""}
{"type":"tool_call_delta","index":0,"text":":1}"}
{"type":"block_end","index":0,"block":{"type":"tool_call","toolCallId":"ID","nativeId":"call_1","toolName":"read","args":{"a":1}}}
)");
}

TEST_F(ReplyBuilderTest, ArgumentsAreAlwaysJson) {
  const auto args = [&](std::string_view text) {
    const auto call = builder_.OpenToolCall("f", "");
    builder_.AppendArgs(call, text);
    builder_.Close(call);
    const std::string events = Heard();
    const std::size_t at = events.find("\"args\":") + 7;
    return events.substr(at, events.size() - at - 3);
  };
  EXPECT_EQ(args(""), "{}");
  EXPECT_EQ(args(" \n"), "{}");
  EXPECT_EQ(args("{\"a\":\n1}"), "{\"a\": 1}");
  EXPECT_EQ(args("[1]"), "[1]");
  EXPECT_EQ(args("{\"a"), "\"{\\\"a\"");
}

TEST_F(ReplyBuilderTest, OnlyAWholeObjectIsWholeArguments) {
  const auto call = builder_.OpenToolCall("f", "");
  EXPECT_FALSE(builder_.HasWholeArgs(call));
  builder_.AppendArgs(call, " {\"a\":{}");
  EXPECT_FALSE(builder_.HasWholeArgs(call));
  builder_.AppendArgs(call, "} ");
  EXPECT_TRUE(builder_.HasWholeArgs(call));
  builder_.AppendArgs(call, "{");
  EXPECT_FALSE(builder_.HasWholeArgs(call));
}

TEST_F(ReplyBuilderTest, AReplyWithCallsThatEndsStopsForThem) {
  builder_.OpenToolCall("f", "");
  builder_.Stop(stop::kEnd);
  EXPECT_EQ(builder_.TakeReply().content.stop_reason, stop::kToolUse);
}

TEST_F(ReplyBuilderTest, AnotherReasonStaysWhateverThereWas) {
  builder_.OpenToolCall("f", "");
  builder_.Stop(stop::kMaxTokens);
  builder_.Stop(stop::kEnd);
  EXPECT_EQ(builder_.TakeReply().content.stop_reason, stop::kMaxTokens);
}

TEST_F(ReplyBuilderTest, TheEndClosesWhatOpenedBehindTheStop) {
  builder_.Stop(stop::kEnd);
  builder_.Append(builder_.OpenThinking(), "late");
  builder_.End();
  EXPECT_NE(Heard().find("\"block_end\""), std::string::npos);
  EXPECT_EQ(builder_.TakeReply().content.blocks.size(), 1);
}

TEST_F(ReplyBuilderTest, UsageIsReportedWhenItChanges) {
  const protocol::Usage usage{.input = 1, .output = 2};
  builder_.Report(usage, false);
  builder_.Report(usage, true);
  EXPECT_EQ(Heard(), "{\"type\":\"usage\",\"usage\":{\"input\":1,\"output\":2}}\n");
  const Reply reply = builder_.TakeReply();
  EXPECT_TRUE(reply.usage_final);
  EXPECT_EQ(reply.content.usage, usage);
}

TEST_F(ReplyBuilderTest, AFailedReplyKeepsWhatIsCompleteAndTheTextThatIsNot) {
  const auto thinking = builder_.OpenThinking();
  builder_.Append(thinking, "done");
  builder_.Close(thinking);
  builder_.Append(builder_.OpenThinking(), "cut");
  builder_.AppendArgs(builder_.OpenToolCall("f", ""), "{}");
  builder_.Append(builder_.OpenText(), "half");
  builder_.Fail({.kind = FailureKind::kTruncated, .message = "first"});
  builder_.Fail({.kind = FailureKind::kServer, .message = "second"});
  const Reply reply = builder_.TakeReply();
  EXPECT_TRUE(reply.partial);
  EXPECT_EQ(reply.failure->message, "first");
  EXPECT_FALSE(reply.content.stop_reason);
  ASSERT_EQ(reply.content.blocks.size(), 2);
  EXPECT_EQ(reply.content.blocks[1], protocol::Block(protocol::TextBlock{.text = "half"}));
}

TEST_F(ReplyBuilderTest, NothingHappensBehindTheEndOrAFailure) {
  for (const bool fail : {true, false}) {
    ReplyBuilder builder(model_, *this, ids_);
    const auto text = builder.OpenText();
    const auto call = builder.OpenToolCall("", "");
    if (fail) builder.Fail({.kind = FailureKind::kServer});
    if (!fail) builder.End();
    Heard();
    builder.Start("m");
    builder.Append(text, "x");
    builder.SetToolName(call, "f");
    builder.SetNativeId(call, "n");
    builder.AppendArgs(call, "{}");
    builder.SetSignature(text, "s");
    builder.Append(builder.OpenThinking(), "x");
    builder.OpenToolCall("g", "n");
    builder.AddRedacted(Raw{"1"});
    builder.CloseAll();
    builder.Report({.input = 1}, true);
    builder.Stop(stop::kEnd);
    builder.End();
    EXPECT_EQ(Heard(), "");
    EXPECT_EQ(builder.TakeReply().content.blocks.size(), fail ? 0 : 1) << "the call that was open";
  }
}

TEST_F(ReplyBuilderTest, TextOrACallCommitsThinkingDoesNot) {
  builder_.Append(builder_.OpenThinking(), "x");
  builder_.Append(builder_.OpenText(), " \n");
  const auto call = builder_.OpenToolCall("f", "");
  EXPECT_FALSE(builder_.committed());
  builder_.Close(call);
  EXPECT_TRUE(builder_.committed());
  ReplyBuilder other(model_, *this, ids_);
  other.Append(other.OpenText(), "a");
  EXPECT_TRUE(other.committed());
}

TEST_F(ReplyBuilderTest, HiddenReasoningIsCompleteAtOnce) {
  builder_.AddRedacted(Raw{"{\"x\":1}"});
  EXPECT_EQ(Heard(), kStart + R"({"type":"block_start","index":0,"kind":"redacted_thinking"}
{"type":"block_end","index":0,"block":{"type":"redacted_thinking","data":{"x":1},"dialect":"openai-completions"}}
)");
  EXPECT_FALSE(builder_.committed());
}

TEST_F(ReplyBuilderTest, AReplyIsBoundedInBytes) {
  const std::string megabyte(std::size_t{1} << 20, 'x');
  const auto text = builder_.OpenText();
  for (std::size_t i = 0; i < ReplyBuilder::kMaxBytes >> 20; ++i) builder_.Append(text, megabyte);
  EXPECT_FALSE(builder_.failed());
  builder_.OpenToolCall("f", "");
  ASSERT_TRUE(builder_.failed()) << "names count too";
  EXPECT_EQ(builder_.TakeReply().failure->kind, FailureKind::kProtocol);
}

TEST_F(ReplyBuilderTest, AReplyIsBoundedInBlocks) {
  for (std::size_t i = 0; i < ReplyBuilder::kMaxBlocks; ++i) builder_.OpenText();
  EXPECT_FALSE(builder_.failed());
  const auto first = builder_.OpenText();
  EXPECT_TRUE(builder_.failed());
  EXPECT_FALSE(builder_.is_open(first));
  EXPECT_EQ(builder_.OpenToolCall("f", "n"), first) << "what is refused takes no more room";
}

}  // namespace
}  // namespace stet::provider
