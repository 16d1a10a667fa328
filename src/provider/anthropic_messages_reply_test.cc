#include <gtest/gtest.h>

#include "json/view.h"
#include "provider/reply_fixture.h"

namespace stet::provider {
namespace {

const Model kModel{
    .provider = "anthropic", .id = "claude-test", .dialect = Dialect::kAnthropicMessages};

Decoded Read(std::string_view bytes) {
  return DecodeReply(kModel, anthropic_messages::MakeDecoder, {bytes});
}

/// Events as the server sends them, each named by the type in its data.
std::string Sse(const std::vector<std::string>& events) {
  std::string out;
  for (const std::string& data : events)
    out += "event: " + JsonView(data)["type"].StringOr("") + "\ndata: " + data + "\n\n";
  return out;
}

std::string Start(int index, const std::string& block) {
  return R"({"type":"content_block_start","index":)" + std::to_string(index) +
         R"(,"content_block":)" + block + "}";
}
std::string Delta(int index, const std::string& delta) {
  return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":)" +
         delta + "}";
}
std::string End(int index) {
  return R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}";
}
std::string StopFor(const std::string& reason) {
  return R"({"type":"message_delta","delta":{"stop_reason":")" + reason + R"("}})";
}
const std::string kStop = R"({"type":"message_stop"})";

/// Text "Hi", not closed yet.
std::vector<std::string> Beginning() {
  return {R"({"type":"message_start","message":{"model":"claude-test-1"}})",
          Start(0, R"({"type":"text","text":""})"),
          Delta(0, R"({"type":"text_delta","text":"Hi"})")};
}

std::string WholeReply() {
  const std::string start =
      R"({"type":"message_start","message":{"id":"m1","model":"claude-test-1","content":[],)"
      R"("usage":{"input_tokens":7,"cache_creation_input_tokens":30,"cache_read_input_tokens":500,)"
      R"("output_tokens":1}}})";
  const std::string end =
      R"({"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},)"
      R"("usage":{"output_tokens":90,"input_tokens":null,)"
      R"("output_tokens_details":{"thinking_tokens":40}}})";
  return Sse({
      start,
      Start(0, R"({"type":"thinking","thinking":"","signature":""})"),
      R"({"type":"ping"})",
      Delta(0, R"({"type":"thinking_delta","thinking":"h\u00e4"})"),
      Delta(0, R"({"type":"signature_delta","signature":"c2ln"})"),
      End(0),
      Start(1, R"({"type":"redacted_thinking","data":"b3BhcXVl"})"),
      End(1),
      Start(2, R"({"type":"text","text":""})"),
      Delta(2, R"({"type":"text_delta","text":"I read "})"),
      Delta(2, R"({"type":"text_delta","text":"世\n"})"),
      End(2),
      Start(3, R"({"type":"tool_use","id":"toolu_1","name":"read","input":{}})"),
      Delta(3, R"({"type":"input_json_delta","partial_json":""})"),
      Delta(3, R"({"type":"input_json_delta","partial_json":"{\"p\":"})"),
      Delta(3, R"({"type":"input_json_delta","partial_json":"1}"})"),
      End(3),
      Start(4, R"({"type":"server_tool_use","id":"srv","name":"search","input":{}})"),
      Delta(4, R"({"type":"input_json_delta","partial_json":"{}"})"),
      End(4),
      Start(5, R"({"type":"tool_use","id":"toolu_2","name":"list","input":{}})"),
      End(5),
      end,
      kStop,
  });
}

const char* const kWholeEvents =
    R"({"type":"message_start","model":"claude-test-1"}
{"type":"usage","usage":{"input":7,"output":1,"cacheRead":500,"cacheWrite":30}}
{"type":"block_start","index":0,"kind":"thinking"}
{"type":"thinking_delta","index":0,"text":"hä"}
{"type":"block_end","index":0,"block":{"type":"thinking","text":"hä","signature":"c2ln","dialect":"anthropic-messages"}}
{"type":"block_start","index":1,"kind":"redacted_thinking"}
{"type":"block_end","index":1,"block":{"type":"redacted_thinking","data":"b3BhcXVl","dialect":"anthropic-messages"}}
{"type":"block_start","index":2,"kind":"text"}
{"type":"text_delta","index":2,"text":"I read "}
{"type":"text_delta","index":2,"text":"世\n"}
{"type":"block_end","index":2,"block":{"type":"text","text":"I read 世\n"}}
{"type":"block_start","index":3,"kind":"tool_call","toolCallId":"ID1","toolName":"read"}
{"type":"tool_call_delta","index":3,"text":"{\"p\":"}
{"type":"tool_call_delta","index":3,"text":"1}"}
{"type":"block_end","index":3,"block":{"type":"tool_call","toolCallId":"ID1","nativeId":"toolu_1","toolName":"read","args":{"p":1}}}
{"type":"block_start","index":4,"kind":"tool_call","toolCallId":"ID2","toolName":"list"}
{"type":"block_end","index":4,"block":{"type":"tool_call","toolCallId":"ID2","nativeId":"toolu_2","toolName":"list","args":{}}}
{"type":"usage","usage":{"input":7,"output":90,"cacheRead":500,"cacheWrite":30,"reasoning":40}}
{"type":"stopped","reason":"tool_use"}
{"type":"message_end"}
)";

TEST(AnthropicMessagesReply, AWholeReplyIsTheseEvents) {
  const Decoded decoded = Read(WholeReply());
  EXPECT_EQ(decoded.events, WithIds(kWholeEvents));
  EXPECT_TRUE(decoded.ended);
  EXPECT_TRUE(decoded.reply.usage_final);
  EXPECT_EQ(decoded.reply.content.blocks.size(), 5U);
}

TEST(AnthropicMessagesReply, ComesInAnyPieces) {
  const std::string bytes = WholeReply();
  const std::string whole = Read(bytes).events;
  Random random(7);
  for (int i = 0; i <= 200; ++i) {
    const Pieces pieces = Split(bytes, i == 0 ? 1 : 1 + random.Below(300), random);
    ASSERT_EQ(DecodeReply(kModel, anthropic_messages::MakeDecoder, pieces).events, whole);
  }
}

TEST(AnthropicMessagesReply, CutAnywhereItHasEndedOnlyWithItsEndMark) {
  const std::string bytes = WholeReply();
  const std::string_view all(bytes);
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::string_view cut = all.substr(0, size);
    const Decoded decoded = Read(cut);
    ASSERT_EQ(decoded.ended, cut.find(kStop) != std::string_view::npos) << size;
    ASSERT_EQ(decoded.reply.failure.has_value(), !decoded.ended) << size;
  }
}

TEST(AnthropicMessagesReply, EveryStopReasonHasItsMeaning) {
  const std::vector<std::pair<std::string, std::string_view>> reasons = {
      {"end_turn", stop::kEnd},
      {"max_tokens", stop::kMaxTokens},
      {"stop_sequence", stop::kStopSequence},
      {"tool_use", stop::kToolUse},
      {"pause_turn", stop::kPaused},
      {"refusal", stop::kRefused},
      {"model_context_window_exceeded", stop::kOverflow},
      {"something_new", stop::kOther},
  };
  for (const auto& [wire, reason] : reasons) {
    const Decoded decoded = Read(Sse({StopFor(wire), kStop}));
    EXPECT_EQ(decoded.reply.content.stop_reason, reason) << wire;
    EXPECT_TRUE(decoded.ended) << wire;
  }
}

TEST(AnthropicMessagesReply, AnErrorAfterTextKeepsTheText) {
  std::vector<std::string> events = Beginning();
  events.push_back(R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},)"
                   R"("request_id":"req_1"})");
  events.push_back(kStop);
  const Decoded decoded = Read(Sse(events));
  EXPECT_FALSE(decoded.ended);
  ASSERT_TRUE(decoded.reply.failure);
  EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kOverloaded);
  EXPECT_EQ(decoded.reply.failure->message, "Overloaded");
  EXPECT_EQ(decoded.reply.failure->request_id, "req_1");
  EXPECT_EQ(protocol::PlainText(decoded.reply.content.blocks), "Hi");
}

TEST(AnthropicMessagesReply, AnErrorObjectWithoutATypeIsAnError) {
  const Decoded decoded = Read("data: {\"error\":{\"message\":\"prompt is too long\"}}\n\n");
  ASSERT_TRUE(decoded.reply.failure);
  EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kOverflow);
}

TEST(AnthropicMessagesReply, WhatIsNotAJsonObjectFailsItAndIsQuoted) {
  for (const std::string data : {"{\"type\":", "nonsense", "[]", "{}x"}) {
    const Decoded decoded = Read(Sse(Beginning()) + "data: " + data + "\n\n" + Sse({kStop}));
    ASSERT_TRUE(decoded.reply.failure) << data;
    EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kGarbled);
    EXPECT_NE(decoded.reply.failure->message.find(data), std::string::npos);
    EXPECT_EQ(protocol::PlainText(decoded.reply.content.blocks), "Hi");
  }
  const Decoded decoded = Read("data: " + std::string(10'000, 'x') + "\n\n");
  EXPECT_LT(decoded.reply.failure->message.size(), 300U);
}

TEST(AnthropicMessagesReply, MembersMayBeMissingOrOfAnotherKind) {
  const Decoded decoded = Read(Sse({
      R"({"type":"message_start","message":7})",
      R"({"type":"message_start"})",
      R"({"type":"content_block_delta","index":0,"delta":{"text":"nowhere"}})",
      R"({"type":"content_block_start","index":0})",
      R"({"type":"content_block_start","content_block":{"type":"text"}})",
      R"({"type":"content_block_delta","delta":{"text":"Hi"}})",
      R"({"type":"content_block_delta","delta":{"text":null}})",
      R"({"type":"content_block_delta","delta":"x"})",
      R"({"type":"content_block_stop"})",
      R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use"}})",
      R"({"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking"}})",
      R"({"type":"unheard_of","index":{}})",
      R"({"type":"message_delta","delta":null,"usage":[]})",
      R"({"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":-5}})",
      R"({})",
      kStop,
  }));
  EXPECT_EQ(decoded.events,
            R"({"type":"message_start","model":""}
{"type":"block_start","index":0,"kind":"text"}
{"type":"text_delta","index":0,"text":"Hi"}
{"type":"block_end","index":0,"block":{"type":"text","text":"Hi"}}
{"type":"usage","usage":{"input":0,"output":0}}
{"type":"stopped","reason":"end"}
{"type":"message_end"}
)");
}

TEST(AnthropicMessagesReply, TheEventsNameCountsWhenTheDataHasNoType) {
  EXPECT_TRUE(Read("event: message_stop\ndata: {}\n\n").ended);
}

TEST(AnthropicMessagesReply, ContentThatComesWithTheStartCountsOnlyWithoutDeltas) {
  const Decoded decoded = Read(Sse({
      Start(0, R"({"type":"text","text":"all"})"),
      End(0),
      Start(1, R"({"type":"text","text":"re"})"),
      Delta(1, R"({"text":"repeated"})"),
      End(1),
      Start(2, R"({"type":"thinking","thinking":"t","signature":"s"})"),
      End(2),
      Start(3, R"({"type":"tool_use","id":"a","name":"read","input":{"p":2}})"),
      kStop,
  }));
  const protocol::Blocks expected = {
      protocol::TextBlock{.text = "all"},
      protocol::TextBlock{.text = "repeated"},
      protocol::ThinkingBlock{.text = "t", .signature = "s", .dialect = "anthropic-messages"},
  };
  const protocol::Blocks& blocks = decoded.reply.content.blocks;
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), blocks.begin()));
  EXPECT_EQ(std::get<protocol::ToolCallBlock>(blocks[3]).args.text, R"({"p":2})");
}

TEST(AnthropicMessagesReply, ThinkingThatIsNotShownKeepsItsSignature) {
  const Decoded decoded = Read(Sse({Start(0, R"({"type":"thinking","thinking":""})"),
                                    Delta(0, R"({"signature":"s"})"), End(0), kStop}));
  const protocol::Blocks expected = {
      protocol::ThinkingBlock{.text = "", .signature = "s", .dialect = "anthropic-messages"}};
  EXPECT_EQ(decoded.reply.content.blocks, expected);
}

TEST(AnthropicMessagesReply, ReasoningIsNeverMoreThanOutput) {
  const Decoded decoded = Read(Sse(
      {R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":)"
       R"({"output_tokens":5,"output_tokens_details":{"thinking_tokens":9000000000000000000}}})",
       kStop}));
  EXPECT_EQ(decoded.reply.content.usage, (protocol::Usage{.output = 5, .reasoning = 5}));
}

TEST(AnthropicMessagesReply, AToolCallIsCompleteWhileTheReplyGoesOn) {
  EventText sink;
  Random ids(1);
  ReplyBuilder builder(kModel, sink, ids);
  const auto decoder = anthropic_messages::MakeDecoder(builder);
  decoder->On("", Start(0, R"({"type":"tool_use","id":"a","name":"read"})"));
  decoder->On("", Start(1, R"({"type":"tool_use","id":"b","name":"read"})"));
  decoder->On("", Delta(1, R"({"partial_json":"{}"})"));
  EXPECT_EQ(sink.text.find("block_end"), std::string::npos);
  decoder->On("", End(1));
  EXPECT_NE(sink.text.find(R"("block_end","index":1)"), std::string::npos);
  EXPECT_EQ(sink.text.find(R"("block_end","index":0)"), std::string::npos);
  EXPECT_FALSE(builder.done());
}

}  // namespace
}  // namespace stet::provider
