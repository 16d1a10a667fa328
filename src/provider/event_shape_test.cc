#include "provider/event_shape.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "json/members.h"
#include "provider/reply_fixture.h"

namespace stet::provider {
namespace {

/// Learns an event whose members "text" and "n" are loose.
EventShape ShapeOf(std::string_view data, std::string_view event = "") {
  constexpr MemberNames<2> kMembers = {"text", "n"};
  const auto members = MembersOf(data, kMembers);
  EventShape shape;
  if (members) shape.Learn(event, data, *members);
  return shape;
}

TEST(EventShapeTest, AnEventThatDiffersInTheLooseValuesFits) {
  EventShape shape = ShapeOf(R"({"n":1,"text":"a","id":7})");
  ASSERT_TRUE(shape.Fits("", R"({"n":23,"text":"some \"more\"\n\ud83d\ude00","id":7})"));
  EXPECT_EQ(shape.Text(), "some \"more\"\n\U0001F600");
  EXPECT_EQ(shape.value(1).Int(), 23);
  ASSERT_TRUE(shape.Fits("", R"({"n":-4,"text":"","id":7})"));
  EXPECT_EQ(shape.Text(), "");
  EXPECT_EQ(shape.value(1).Int(), -4);
}

TEST(EventShapeTest, AnythingElseDoesNotFit) {
  EventShape shape = ShapeOf(R"({"n":1,"text":"a","id":7})", "delta");
  ASSERT_TRUE(shape.Fits("delta", R"({"n":1,"text":"a","id":7})"));
  EXPECT_FALSE(shape.Fits("", R"({"n":1,"text":"a","id":7})"));
  for (const std::string_view other : {
           R"({"n":1,"text":"a","id":8})",
           R"({"n":1,"text":"a","id":7} )",
           R"({"n":1,"text":"a","id":7)",
           R"({"n":1,"text":"a" ,"id":7})",
           R"({"n":1,"text":"a","text":"b","id":7})",
           R"({"n":1,"text":"a",x","id":7})",
           R"({"n":1,"text":"\x","id":7})",
           R"({"n":1,"text":"\ud83","id":7})",
           R"({"n":1,"text":"a\","id":7})",
           R"({"n":1,"text":null,"id":7})",
           R"({"n":1,"text":["a"],"id":7})",
           R"({"n":"1","text":"a","id":7})",
           R"({"n":01,"text":"a","id":7})",
           R"({"n":,"text":"a","id":7})",
           R"({"n":1,"text":)",
           "",
       }) {
    EXPECT_FALSE(shape.Fits("delta", other)) << other;
  }
}

TEST(EventShapeTest, WithoutATextOrWhenItIsLargeNothingIsLearned) {
  EXPECT_FALSE(ShapeOf(R"({"n":1})").Fits("", R"({"n":1})"));
  EXPECT_FALSE(ShapeOf(R"({"text":1})").Fits("", R"({"text":1})"));
  const std::string large =
      R"({"text":"a","id":")" + std::string(EventShape::kMaxBytes, 'x') + R"("})";
  EXPECT_FALSE(ShapeOf(large).Fits("", large));
  EventShape shape = ShapeOf(R"({"text":"a"})");
  EXPECT_TRUE(shape.Fits("", R"({"text":"b"})"));
  EXPECT_FALSE(shape.value(1));
  shape.Forget();
  EXPECT_FALSE(shape.Fits("", R"({"text":"b"})"));
}

// Every decoder keeps the shape of its last delta and forgets it at any other event. An event that
// means nothing therefore tells the two ways of reading apart, and must make no difference.

struct Wire {
  Dialect dialect;
  DecoderMaker make;
  std::string_view nothing;
  // $T is some text, $N a small and $U a large number.
  std::vector<std::string_view> events;
};

const Wire kMessages = {
    Dialect::kAnthropicMessages,
    anthropic_messages::MakeDecoder,
    R"({"type":"ping"})",
    {R"({"type":"content_block_delta","index":$N,"delta":{"type":"text_delta","text":"$T"}})",
     R"({"type":"content_block_delta","index":$N,"delta":{"text":"$T","text":"$T"}})",
     R"({"type":"content_block_delta","index":$N,"delta":{"thinking":"$T"}})",
     R"({"type":"content_block_delta","index":$N,"delta":{"thinking":"$T","signature":"$T"}})",
     R"({"delta":{"partial_json" : "$T" },"index":$N,"type":"content_block_\u0064elta"})",
     R"({"type":"content_block_delta","index":$N,"delta":{"text":$N}})",
     R"({"type":"content_block_start","index":$N,"content_block":{"type":"text","text":"$T"}})",
     R"({"type":"content_block_start","index":$N,"content_block":{"type":"thinking"}})",
     R"({"type":"content_block_start","index":$N,"content_block":{"type":"tool_use","name":"t"}})",
     R"({"type":"content_block_stop","index":$N})",
     R"({"type":"message_delta","delta":{},"usage":{"output_tokens":$U}})"}};

const Wire kCompletions = {
    Dialect::kOpenAiCompletions,
    openai_completions::MakeDecoder,
    R"({"choices":[]})",
    {R"({"model":"m","choices":[{"index":0,"delta":{"content":"$T"},"finish_reason":null}]})",
     R"({"choices":[{"index":0,"delta":{"content":"$T"}}],"usage":null,"obfuscation":"$U"})",
     R"({"choices":[{"delta":{"content":"$T","reasoning_content":null,"tool_calls":[]}}]})",
     R"({"choices":[{"delta":{"content":"","reasoning_content":"$T"}}]})",
     R"({"choices":[{"delta":{"content":null,"reasoning":"$T"}}]})",
     R"({"choices":[{"delta":{"content":"$T","reasoning":"$T"}}]})",
     R"({"choices":[{"delta":{"reasoning":"$T","reasoning_details":[{"text":"$T"}]}}]})",
     R"({"choices":[{"delta":{"content":"$T","refusal":"$T"}}]})",
     R"({"choices":[{"delta":{"content":[{"text":"$T"}]}}]})",
     R"({"choices":[{"index":$N,"delta":{"content":"$T"}},{"index":$N,"delta":{"content":"b"}}]})",
     R"({"choices":[{"delta":{"content":"$T"},"usage":{"completion_tokens":$U}}]})",
     R"({"choices":[{"delta":{"content":"$T"}}],"usage":{"completion_tokens":$N}})",
     R"({"choices":[{"delta":{"tool_calls":[{"index":$N,"function":{"name":"t"}}]}}]})",
     R"({"choices":[{"delta":{"content":"$T"},"finish_reason":""}]})"}};

const Wire kResponses = {
    Dialect::kOpenAiResponses,
    openai_responses::MakeDecoder,
    R"({"type":"response.nothing"})",
    {R"({"type":"response.output_text.delta","sequence_number":$U,"output_index":$N,"delta":"$T"})",
     R"({"type":"response.output_text.delta","content_index":$N,"delta":"$T","obfuscation":"$T"})",
     R"({"type":"response.output_text.delta","item_id":"m$N","delta":"$T"})",
     R"({"type":"response.output_text.delta","delta":"$T","text":"$T","error":null})",
     R"({"type":"response.refusal.delta","output_index":$N,"delta":"$T"})",
     R"({"type":"response.output_text.done","output_index":$N,"text":"$T","delta":"$T"})",
     R"({"type":"response.reasoning_summary_text.delta","output_index":$N,"delta":"$T"})",
     R"({"type":"response.function_call_arguments.delta","output_index":$N,"delta":"$T"})",
     R"({"type":"response.output_item.added","output_index":$N,"item":{"type":"message"}})",
     R"({"type":"response.output_item.done","output_index":$N,"item":{"type":"message"}})"}};

const Wire kGenerate = {
    Dialect::kGoogleGenerativeAi,
    google_generative_ai::MakeDecoder,
    R"({})",
    {R"({"candidates":[{"content":{"parts":[{"text":"$T"}]}}],"modelVersion":"m"})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T"}]}}],"usageMetadata":{"candidatesTokenCount":$U}})",
     R"({"usageMetadata":{"candidatesTokenCount":$N},"candidates":[{"content":{"parts":[{"text":"$T"}]}}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T","thought":true}]}}],"usageMetadata":null})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T"},{"text":"$T"}]}}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T"},{"thought":true}]}}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T","thoughtSignature":"$T"}]}}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T","functionCall":{"name":"t"}}]}}]})",
     R"({"candidates":[{"content":{"parts":[{"text":"$T"}]},"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":$N}})"}};

std::string Filled(std::string_view event, Random& random) {
  constexpr std::array<std::string_view, 12> kPieces = {
      "a", "some text",      " ",       "\\n",        "\\\"", "\\\\", "\u00e9", "\\u00e9",
      "",  "\\ud83d\\ude00", "\\ud83d", "{\\\"a\\\":"};
  std::string out;
  for (std::size_t i = 0; i < event.size(); ++i) {
    if (event[i] != '$') {
      out += event[i];
      continue;
    }
    const char kind = event[++i];
    if (kind == 'T') {
      for (std::uint64_t n = random.Below(3); n > 0; --n) out += kPieces[random.Below(12)];
    } else {
      out += std::to_string(random.Below(kind == 'N' ? 2 : 100'000));
    }
  }
  return out;
}

/// Some events, each template for a while; seldom, one is damaged.
std::vector<std::string> SomeEvents(const Wire& wire, Random& random) {
  std::vector<std::string> events;
  for (std::uint64_t runs = 1 + random.Below(12); runs > 0; --runs) {
    // The first one is the most frequent of all in real replies.
    const std::string_view event =
        wire.events[random.Below(3) == 0 ? 0 : random.Below(wire.events.size())];
    for (std::uint64_t n = 1 + random.Below(5); n > 0; --n) {
      events.push_back(Filled(event, random));
      if (random.Below(60) == 0)
        events.back()[random.Below(events.back().size())] = static_cast<char>(random.Below(128));
    }
  }
  return events;
}

std::string HeardShape(const Wire& wire, const std::vector<std::string>& events, bool apart) {
  EventText sink;
  Random ids(1);
  const Model model{.id = "m", .dialect = wire.dialect};
  ReplyBuilder builder(model, sink, ids);
  const std::unique_ptr<Decoder> decoder = wire.make(builder);
  for (const std::string& event : events) {
    decoder->On("", event);
    if (apart) decoder->On("", wire.nothing);
  }
  decoder->Finish();
  const Reply reply = builder.TakeReply();
  return sink.text + Encode(reply.content) + (reply.failure ? reply.failure->message : "");
}

TEST(EventShapeTest, DeltasReadAlikeWhetherTheirShapeIsKnownOrNot) {
  Random random(5);
  for (const Wire* wire : {&kMessages, &kCompletions, &kResponses, &kGenerate}) {
    for (int round = 0; round < 3000; ++round) {
      const std::vector<std::string> events = SomeEvents(*wire, random);
      std::string all;
      for (const std::string& event : events) all += event + "\n";
      ASSERT_EQ(HeardShape(*wire, events, false), HeardShape(*wire, events, true)) << all;
    }
  }
}

}  // namespace
}  // namespace stet::provider
