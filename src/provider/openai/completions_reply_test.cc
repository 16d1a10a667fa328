#include "provider/openai/openai_fixture.h"

namespace stet::provider::openai_completions {
namespace {

constexpr Dialect kDialect = Dialect::kOpenAiCompletions;

Heard Hear(const std::string& bytes) { return HearPieces(kDialect, &MakeDecoder, {bytes}); }

/// A chunk whose only choice has `delta`, and more members of the choice behind it.
std::string Chunk(const std::string& delta, const std::string& more = "") {
  return R"({"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         delta + more + "}]}";
}

std::string Finish(const std::string& reason) {
  return Chunk("{}", R"(,"finish_reason":")" + reason + "\"");
}

Heard HearChunks(std::vector<std::string> chunks) {
  chunks.emplace_back("[DONE]");
  return Hear(Sse(chunks));
}

/// The deltas of tool calls, then the end.
Heard HearCalls(const std::vector<std::string>& deltas) {
  std::vector<std::string> chunks;
  for (const std::string& delta : deltas)
    chunks.push_back(Chunk(R"({"tool_calls":)" + delta + "}"));
  chunks.push_back(Finish("tool_calls"));
  return HearChunks(chunks);
}

/// "text(a) call(id name args)": the reply's blocks in short.
std::string Short(const Reply& reply) {
  std::string out;
  for (const protocol::Block& block : reply.content.blocks) {
    if (!out.empty()) out += " ";
    if (const auto* text = std::get_if<protocol::TextBlock>(&block))
      out += "text(" + text->text + ")";
    if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block))
      out += "thinking(" + thinking->text + ")";
    if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
      out += "call(" + call->native_id.value_or("-") + " " + call->tool_name + " " +
             call->args.text + ")";
  }
  return out;
}

const std::string kUsageChunk =
    R"({"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,)"
    R"("prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},)"
    R"("completion_tokens_details":{"reasoning_tokens":12}}})";

std::string WholeReply() {
  return ": PROCESSING\r\n\r\n" +
         Sse({Chunk(R"({"role":"assistant","content":""})"),
              Chunk(R"({"reasoning_content":"Let me "})"), Chunk(R"({"reasoning_content":"see."})"),
              Chunk(R"({"content":"Hé"})"), Chunk(R"({"content":"llo \ud83d\ude00"})"),
              Chunk(R"({"tool_calls":[{"index":0,"id":"call_a","type":"function",)"
                    R"("function":{"name":"read","arguments":""}}]})"),
              Chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]})"),
              Chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]})"),
              Chunk(R"({"tool_calls":[{"index":1,"id":"call_b","type":"function",)"
                    R"("function":{"name":"list","arguments":"{}"}}]})"),
              Finish("tool_calls"), kUsageChunk, "[DONE]"});
}

TEST(OpenAiCompletionsReply, AWholeReplyIsTheSameStreamInAnyPieces) {
  const std::string expected =
      R"({"type":"message_start","model":"m"}
{"type":"block_start","index":0,"kind":"thinking"}
{"type":"thinking_delta","index":0,"text":"Let me "}
{"type":"thinking_delta","index":0,"text":"see."}
{"type":"block_end","index":0,"block":{"type":"thinking","text":"Let me see.","dialect":"openai-completions"}}
{"type":"block_start","index":1,"kind":"text"}
{"type":"text_delta","index":1,"text":"Hé"}
{"type":"text_delta","index":1,"text":"llo 😀"}
{"type":"block_end","index":1,"block":{"type":"text","text":"Héllo 😀"}}
{"type":"block_start","index":2,"kind":"tool_call","toolCallId":"ID1","toolName":"read"}
{"type":"tool_call_delta","index":2,"text":"{\"path\":"}
{"type":"tool_call_delta","index":2,"text":"\"a\"}"}
{"type":"block_end","index":2,"block":{"type":"tool_call","toolCallId":"ID1","nativeId":"call_a","toolName":"read","args":{"path":"a"}}}
{"type":"block_start","index":3,"kind":"tool_call","toolCallId":"ID2","toolName":"list"}
{"type":"tool_call_delta","index":3,"text":"{}"}
{"type":"block_end","index":3,"block":{"type":"tool_call","toolCallId":"ID2","nativeId":"call_b","toolName":"list","args":{}}}
{"type":"usage","usage":{"input":30,"output":30,"cacheRead":60,"cacheWrite":10,"reasoning":12}}
{"type":"stopped","reason":"tool_use"}
{"type":"message_end"}
)";
  const Heard heard = Hear(WholeReply());
  EXPECT_EQ(heard.events, WithIds(expected));
  EXPECT_TRUE(heard.ended);
  EXPECT_TRUE(heard.reply.usage_final);
  ExpectTheSameInAnyPieces(kDialect, &MakeDecoder, WholeReply(), heard.events);
}

TEST(OpenAiCompletionsReply, ACutReplyIsCompleteOnlyBehindItsFinishReason) {
  ExpectNoEndWithout(R"("finish_reason":"tool_calls"}]})", kDialect, &MakeDecoder, WholeReply());
}

TEST(OpenAiCompletionsReply, EveryFinishReasonHasItsStop) {
  const auto stop = [](const std::string& reason) {
    return HearChunks({Chunk(R"({"content":"a"})"), Finish(reason)}).reply.content.stop_reason;
  };
  EXPECT_EQ(stop("stop"), stop::kEnd);
  EXPECT_EQ(stop("length"), stop::kMaxTokens);
  EXPECT_EQ(stop("model_length"), stop::kMaxTokens);
  EXPECT_EQ(stop("content_filter"), stop::kRefused);
  EXPECT_EQ(stop("sensitive"), stop::kRefused);
  EXPECT_EQ(stop("tool_calls"), stop::kEnd) << "there were none";
  EXPECT_EQ(stop("whatever"), stop::kOther);
}

TEST(OpenAiCompletionsReply, AFinishThatIsAFailureFailsAndKeepsTheText) {
  const auto failed = [](const std::string& reason) {
    return HearChunks({Chunk(R"({"content":"a"})"), Finish(reason)}).reply;
  };
  for (const std::string reason : {"error", "network_error"}) {
    const Reply reply = failed(reason);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->kind, FailureKind::kServer);
    EXPECT_EQ(Short(reply), "text(a)");
  }
  EXPECT_EQ(failed("insufficient_system_resource").failure->kind, FailureKind::kOverloaded);
}

TEST(OpenAiCompletionsReply, CallsStopForToolUseWhateverTheServerSays) {
  const Heard heard = HearChunks(
      {Chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})"),
       Finish("stop")});
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kToolUse);
}

TEST(OpenAiCompletionsReply, DoneWithContentIsAnEndWithoutAFinishReason) {
  const Heard heard = HearChunks({Chunk(R"({"content":"a"})")});
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kEnd);
}

TEST(OpenAiCompletionsReply, DoneWithNothingBeforeItIsNoReply) {
  const Heard heard = HearChunks({Chunk(R"({"content":""})")});
  ASSERT_TRUE(heard.reply.failure);
  EXPECT_EQ(heard.reply.failure->kind, FailureKind::kTruncated);
}

TEST(OpenAiCompletionsReply, ContentMayComeWithAndBehindTheFinishReason) {
  const Heard heard = HearChunks({Chunk(R"({"content":"a"})", R"(,"finish_reason":"")"),
                                  Chunk(R"({"content":"b"})", R"(,"finish_reason":"length")"),
                                  Chunk(R"({"content":"c"})", R"(,"finish_reason":"stop")")});
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(Short(heard.reply), "text(ab) text(c)");
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kMaxTokens);
}

TEST(OpenAiCompletionsReply, WhatHasNoSenseIsPassedOver) {
  const Heard heard = HearChunks(
      {"", " ", "null", "[]", "7", R"({"choices":null,"usage":null,"error":null})",
       R"({"choices":[null,7,{}]})", Chunk("null"), Chunk("[]"),
       Chunk(R"({"content":null,"refusal":null,"tool_calls":null,"reasoning":{},"role":7})"),
       Chunk(
           R"({"tool_calls":[null,{},{"index":0},{"function":null},{"function":{"arguments":null}}]})"),
       Chunk(R"({"content":"a"})", R"(,"usage":null,"finish_reason":7)"), Finish("stop")});
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(Short(heard.reply), "text(a)");
  EXPECT_FALSE(heard.reply.content.usage);
}

TEST(OpenAiCompletionsReply, OnlyTheFirstChoiceCounts) {
  const Heard heard = HearChunks(
      {R"({"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"},{"index":0,"delta":{"content":"a"}}]})",
       R"({"choices":[{"delta":{"content":"b"}},{"delta":{"content":"y"}}]})", Finish("stop")});
  EXPECT_EQ(Short(heard.reply), "text(ab)");
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kEnd);
}

TEST(OpenAiCompletionsReply, TextThatIsNotJsonFails) {
  const Heard heard =
      Hear(Sse({Chunk(R"({"content":"a"})"), "{\"choices\":" + std::string(500, 'x')}));
  ASSERT_TRUE(heard.reply.failure);
  EXPECT_EQ(heard.reply.failure->kind, FailureKind::kGarbled);
  EXPECT_NE(heard.reply.failure->message.find("{\"choices\":xxx"), std::string::npos);
  EXPECT_LT(heard.reply.failure->message.size(), 260);
  EXPECT_EQ(Short(heard.reply), "text(a)");
}

TEST(OpenAiCompletionsReply, AnErrorInTheStreamFailsAndKeepsTheText) {
  for (
      const std::string error :
      {R"({"error":{"message":"Too many requests","code":429,"type":"rate_limit_error"}})",
       R"({"error":"rate limit: too many requests"})",
       R"({"object":"error","message":"too many requests","type":"rate_limit"})",
       R"({"choices":[{"index":0,"delta":{},"error":{"message":"rate limit"},"finish_reason":"error"}]})"}) {
    const Heard heard = Hear(Sse({Chunk(R"({"content":"a"})"), error, "[DONE]"}));
    ASSERT_TRUE(heard.reply.failure) << error;
    EXPECT_EQ(heard.reply.failure->kind, FailureKind::kRateLimited) << error;
    EXPECT_EQ(Short(heard.reply), "text(a)");
    EXPECT_TRUE(heard.reply.partial);
  }
  const Heard named = Hear("event: error\ndata: {\"message\":\"rate limit\"}\n\n");
  ASSERT_TRUE(named.reply.failure);
  EXPECT_EQ(named.reply.failure->kind, FailureKind::kRateLimited);
}

TEST(OpenAiCompletionsReply, CallsAreToldApartByIndex) {
  EXPECT_EQ(
      Short(
          HearCalls(
              {R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}])",
               R"([{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}])",
               R"([{"index":0,"function":{"name":"","arguments":"1}"}},{"index":1,"function":{"arguments":"}"}}])"})
              .reply),
      R"(call(a f {"x":1}) call(b g {}))");
}

TEST(OpenAiCompletionsReply, ANewIdOnTheSameIndexIsANewCall) {
  EXPECT_EQ(Short(HearCalls({R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}])",
                             R"([{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}])"})
                      .reply),
            "call(a f {}) call(b f {})");
}

TEST(OpenAiCompletionsReply, WholeCallsOnOneIndexWithoutIdsAreSeveral) {
  EXPECT_EQ(
      Short(HearCalls({R"([{"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":1}"}}])",
                       R"([{"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":2}"}}])",
                       R"([{"index":0,"id":"","function":{"name":"g","arguments":"{}"}}])"})
                .reply),
      R"(call(- f {"x":1}) call(- f {"x":2}) call(- g {}))");
}

TEST(OpenAiCompletionsReply, ARepeatedNameIsNoNewCall) {
  EXPECT_EQ(
      Short(HearCalls({R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}])",
                       R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}])",
                       R"([{"index":0,"function":{"name":"f","arguments":"}}"}}])"})
                .reply),
      R"(call(a f {"x":{}}))");
}

TEST(OpenAiCompletionsReply, WithoutAnIndexANewIdIsANewCall) {
  EXPECT_EQ(Short(HearCalls({R"([{"id":"a","function":{"name":"f","arguments":"{"}}])",
                             R"([{"function":{"arguments":"}"}}])",
                             R"([{"id":"b","function":{"name":"f","arguments":"{"}}])",
                             R"([{"id":"b","function":{"name":"f","arguments":"\"x\":"}}])",
                             R"([{"function":{"name":"f","arguments":"1}"}}])"})
                      .reply),
            R"(call(a f {}) call(b f {"x":1}))");
}

TEST(OpenAiCompletionsReply, WithoutAnIndexAndIdsANameIsANewCall) {
  EXPECT_EQ(
      Short(
          HearCalls(
              {R"([{"function":{"name":"f","arguments":"{"}}])",
               R"([{"function":{"arguments":"}"}}])",
               R"([{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":{"y": [1]}}}])"})
              .reply),
      R"(call(- f {}) call(- f {}) call(- g {"y": [1]}))");
}

TEST(OpenAiCompletionsReply, TheNameMayComeBehindTheArguments) {
  EXPECT_EQ(Short(HearCalls({R"([{"index":0,"id":"a","function":{"arguments":"{"}}])",
                             R"([{"index":0,"function":{"name":"f","arguments":"}"}}])"})
                      .reply),
            "call(a f {})");
}

TEST(OpenAiCompletionsReply, TheOldFunctionCallIsOneCall) {
  const Heard heard =
      HearChunks({Chunk(R"({"function_call":{"name":"f","arguments":""}})"),
                  Chunk(R"({"function_call":{"arguments":"{\"x\""}})"),
                  Chunk(R"({"function_call":{"arguments":":1}"}})"), Finish("function_call")});
  EXPECT_EQ(Short(heard.reply), R"(call(- f {"x":1}))");
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kToolUse);
}

TEST(OpenAiCompletionsReply, ACallEndsWhenTheNextBlockBegins) {
  const std::string events =
      HearChunks(
          {Chunk(
               R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})"),
           Chunk(R"({"content":"b"})"), Finish("stop")})
          .events;
  EXPECT_LT(events.find(R"("block_end","index":0)"), events.find(R"("block_start","index":1)"));
}

TEST(OpenAiCompletionsReply, ArgumentsThatAreCutAreKeptAsText) {
  const Heard heard = HearChunks(
      {Chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]})"),
       Finish("length")});
  EXPECT_EQ(Short(heard.reply), R"(call(a f "{\"x"))");
}

TEST(OpenAiCompletionsReply, ARefusalIsTextAndAStop) {
  const Heard heard =
      HearChunks({Chunk(R"({"refusal":"I can"})"), Chunk(R"({"refusal":"not."})"), Finish("stop")});
  EXPECT_EQ(Short(heard.reply), "text(I cannot.)");
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kRefused);
}

TEST(OpenAiCompletionsReply, ContentMayBeAListOfParts) {
  const Heard heard = HearChunks(
      {Chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]})"),
       Chunk(R"({"content":[{"type":"thinking","thinking":"."},{"type":"text","text":"a"}]})"),
       Chunk(R"({"content":[{"type":"reference","ids":[1]},null]})"), Chunk(R"({"content":"b"})"),
       Finish("stop")});
  EXPECT_EQ(Short(heard.reply), "thinking(Hm.) text(ab)");
}

std::string SignatureOf(const protocol::Block& block) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (requires { value.signature; }) return value.signature.value_or("");
        return "";
      },
      block);
}

TEST(OpenAiCompletionsReply, ReasoningDetailsAreKeptAsTheySign) {
  const Heard heard = HearChunks(
      {Chunk(
           R"({"reasoning":"Let","reasoning_details":[{"type":"reasoning.text","text":"Let","index":0}]})"),
       Chunk(
           R"({"reasoning":" me","reasoning_details":[{"type":"reasoning.text","text":" me","index":0}]})"),
       Chunk(R"({"reasoning_details":[{"type":"reasoning.text","signature":"S=","index":0}]})"),
       Chunk(R"({"content":"a"})"), Finish("stop")});
  EXPECT_EQ(Short(heard.reply), "thinking(Let me) text(a)");
  EXPECT_EQ(
      SignatureOf(heard.reply.content.blocks[0]),
      R"([{"type":"reasoning.text","text":"Let","index":0},{"type":"reasoning.text","text":" me","index":0},)"
      R"({"type":"reasoning.text","signature":"S=","index":0}])");
}

TEST(OpenAiCompletionsReply, ReasoningDetailsAloneAreShownAndKept) {
  const Heard shown = HearChunks(
      {Chunk(
           R"({"reasoning_details":[{"type":"reasoning.summary","summary":"Sum"},{"type":"reasoning.text","text":"Tex"}]})"),
       Chunk(R"({"content":"a"})"), Finish("stop")});
  EXPECT_EQ(Short(shown.reply), "thinking(SumTex) text(a)");
  const Heard hidden =
      HearChunks({Chunk(R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"X"}]})"),
                  Chunk(R"({"content":"a"})"), Finish("stop")});
  EXPECT_EQ(Short(hidden.reply), "thinking() text(a)");
  EXPECT_EQ(SignatureOf(hidden.reply.content.blocks[0]),
            R"([{"type":"reasoning.encrypted","data":"X"}])");
}

TEST(OpenAiCompletionsReply, DetailsBehindTheReasoningSignTheLastBlock) {
  const Heard heard = HearChunks(
      {Chunk(R"({"reasoning":"Hm"})"),
       Chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})"),
       Chunk(R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"X"}]})"),
       Finish("tool_calls")});
  EXPECT_EQ(Short(heard.reply), "thinking(Hm) call(a f {})");
  EXPECT_EQ(SignatureOf(heard.reply.content.blocks[1]),
            R"([{"type":"reasoning.encrypted","data":"X"}])");
}

std::optional<protocol::Usage> UsageIn(const std::string& chunk) {
  return HearChunks({Chunk(R"({"content":"a"})"), Finish("stop"), chunk}).reply.content.usage;
}

TEST(OpenAiCompletionsReply, UsageIsFoundWhereverItStands) {
  const protocol::Usage expected{.input = 5, .output = 2};
  const std::string usage = R"({"prompt_tokens":5,"completion_tokens":2})";
  EXPECT_EQ(UsageIn(R"({"choices":[],"usage":)" + usage + "}"), expected);
  EXPECT_EQ(UsageIn(R"({"usage":)" + usage + "}"), expected);
  EXPECT_EQ(UsageIn(R"({"choices":[],"x_groq":{"id":"r","usage":)" + usage + "}}"), expected);
  EXPECT_EQ(UsageIn(Chunk("{}", R"(,"usage":)" + usage)), expected);
  EXPECT_EQ(UsageIn(R"({"usage":{}})"), std::nullopt);
}

TEST(OpenAiCompletionsReply, EveryTokenIsCountedOnce) {
  const auto usage = [](const std::string& members) {
    return UsageIn(R"({"usage":{)" + members + "}}");
  };
  EXPECT_EQ(usage(R"("prompt_tokens":10,"completion_tokens":4,"prompt_cache_hit_tokens":6)"),
            (protocol::Usage{.input = 4, .output = 4, .cache_read = 6}));
  EXPECT_EQ(usage(R"("prompt_tokens":10,"completion_tokens":4,"cached_tokens":3)"),
            (protocol::Usage{.input = 7, .output = 4, .cache_read = 3}));
  EXPECT_EQ(
      usage(
          R"("prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":20,"cache_write_tokens":5})"),
      (protocol::Usage{.input = 0, .output = 0, .cache_read = 10, .cache_write = 0}));
  EXPECT_EQ(
      usage(
          R"("prompt_tokens":-5,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":9})"),
      (protocol::Usage{.input = 0, .output = 4, .reasoning = 4}));
  EXPECT_EQ(usage(R"("prompt_tokens":10,"completion_tokens":4,"total_tokens":23,)"
                  R"("completion_tokens_details":{"reasoning_tokens":9})"),
            (protocol::Usage{.input = 10, .output = 13, .reasoning = 9}));
  EXPECT_TRUE(usage(
      R"("prompt_tokens":-9223372036854775808,"completion_tokens":9223372036854775807,)"
      R"("total_tokens":9223372036854775807,"completion_tokens_details":{"reasoning_tokens":9223372036854775807})"));
}

TEST(OpenAiCompletionsReply, LinesMayEndInAnyWayAndDataNeedsNoSpace) {
  const Heard heard =
      Hear("data:" + Chunk(R"({"content":"a"})") + "\r\n\r\n: ping\r\n\r\ndata:" + Finish("stop"));
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(Short(heard.reply), "text(a)");
}

TEST(OpenAiCompletionsReply, ManyCallsEndTheReplyAndNotTheMemory) {
  std::string calls = "[{\"id\":\"0\"}";
  for (std::size_t i = 1; i < ReplyBuilder::kMaxBlocks + 50; ++i)
    calls += ",{\"id\":\"" + std::to_string(i) + "\"}";
  const Heard heard = HearCalls({calls + "]"});
  ASSERT_TRUE(heard.reply.failure);
  EXPECT_EQ(heard.reply.failure->kind, FailureKind::kProtocol);
}

}  // namespace
}  // namespace stet::provider::openai_completions
