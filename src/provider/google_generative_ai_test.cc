#include <gtest/gtest.h>

#include "json/view.h"
#include "provider/reply_fixture.h"

namespace stet::provider::google_generative_ai_test {
namespace {

using protocol::ImageBlock;
using protocol::TextBlock;
using protocol::ThinkingBlock;
using protocol::ToolCallBlock;

constexpr const char* kOwn = "google/gemini-test";

Model TestModel(Thinking thinking = Thinking::kEffort) {
  return {.provider = "google",
          .id = "gemini-test",
          .dialect = Dialect::kGoogleGenerativeAi,
          .base_url = "http://host/v1beta",
          .headers = {{"x-extra", "1"}},
          .max_output = 8000,
          .thinking = thinking};
}

ToolCallBlock Call(std::string id, std::optional<std::string> signature) {
  return {.tool_call_id = std::move(id),
          .tool_name = "read",
          .args = Raw{R"({"p": 1})"},
          .signature = std::move(signature)};
}

AssistantTurn Turn(protocol::Blocks blocks, std::string model = kOwn) {
  return {.blocks = std::move(blocks), .model = std::move(model)};
}

UserInput Says(std::string text) { return {.blocks = {TextBlock{.text = std::move(text)}}}; }

ImageBlock Image(std::string blob) { return {.media_type = "image/png", .blob = std::move(blob)}; }

Request FullRequest() {
  Request request;
  request.system = {"Be brief.", "", "Today is Monday."};
  request.tools = {{"read", "Reads.", Raw{R"({"type":"object","properties":{}})"}},
                   {"write", "Writes.", Raw{R"({"type":"object"})"}}};
  request.effort = "max";
  request.max_tokens = 5000;
  request.stop_sequences = {"END"};
  request.user = "u1";
  request.output = OutputSchema{.name = "out", .schema = Raw{R"({"type":"object"})"}};
  request.tool_choice = {.kind = ToolChoice::Kind::kNamed, .name = "read"};
  request.read_blob = [](const std::string& blob) -> Result<std::string> {
    return "bytes:" + blob;
  };
  ToolCallBlock native = Call("c1", "c2ln");
  native.native_id = "call_1";
  request.entries = {
      UserInput{{TextBlock{.text = "Look"}, TextBlock{}, Image("b1")}},
      Turn({ThinkingBlock{.text = "hm", .dialect = "google-generative-ai"},
            TextBlock{.text = "Reading.", .signature = "dGV4dA=="}, native,
            Call("c2", std::nullopt)}),
      ToolResult{"c1", {TextBlock{.text = "one"}, Image("b2")}},
      ToolResult{"c2", {TextBlock{.text = "bad"}}, true},
      Says("Go on"),
  };
  return request;
}

std::string BodyOf(const Model& model, const Request& request) {
  const Result<WireRequest> wire = google_generative_ai::Encode(model, request);
  return wire ? wire->body : "failed: " + wire.error().message;
}

std::string Member(const Model& model, const Request& request, std::string_view name) {
  const std::string body = BodyOf(model, request);
  return std::string(JsonView(body)[name].text());
}

TEST(GoogleGenerativeAiRequest, AGoldenOneWithEverythingInIt) {
  const Result<WireRequest> wire = google_generative_ai::Encode(TestModel(), FullRequest());
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->url, "http://host/v1beta/models/gemini-test:streamGenerateContent?alt=sse");
  const Headers headers = {
      {"content-type", "application/json"}, {"accept", "text/event-stream"}, {"x-extra", "1"}};
  EXPECT_EQ(wire->headers, headers);
  EXPECT_EQ(
      wire->body,
      R"({"generationConfig":{"maxOutputTokens":5000,"stopSequences":["END"],)"
      R"("responseMimeType":"application/json","responseJsonSchema":{"type":"object"},)"
      R"("thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}},)"
      R"("systemInstruction":{"parts":[{"text":"Be brief.\n\nToday is Monday."}]},)"
      R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read"]}},)"
      R"("tools":[{"functionDeclarations":[{"name":"read","description":"Reads.",)"
      R"("parametersJsonSchema":{"type":"object","properties":{}}},)"
      R"({"name":"write","description":"Writes.","parametersJsonSchema":{"type":"object"}}]}],)"
      R"("contents":[{"role":"user","parts":[{"text":"Look"},)"
      R"({"inlineData":{"mimeType":"image/png","data":"Ynl0ZXM6YjE="}}]},)"
      R"({"role":"model","parts":[{"text":"Reading.","thoughtSignature":"dGV4dA=="},)"
      R"({"functionCall":{"id":"call_1","name":"read","args":{"p": 1}},"thoughtSignature":"c2ln"},)"
      R"({"functionCall":{"id":"c2","name":"read","args":{"p": 1}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"read",)"
      R"("response":{"output":"one"}}},{"functionResponse":{"id":"c2","name":"read",)"
      R"("response":{"error":"bad"}}},)"
      R"({"inlineData":{"mimeType":"image/png","data":"Ynl0ZXM6YjI="}},{"text":"Go on"}]}]})");
}

TEST(GoogleGenerativeAiRequest, IsTheSameEveryTime) {
  const std::string first = BodyOf(TestModel(), FullRequest());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(BodyOf(TestModel(), FullRequest()), first);
}

TEST(GoogleGenerativeAiRequest, AnotherEntryKeepsWhatWasThereAsAPrefix) {
  Request request = FullRequest();
  const std::string before = BodyOf(TestModel(), request);
  request.entries.emplace_back(Turn({TextBlock{.text = "Done."}}));
  request.entries.emplace_back(Says("Thanks"));
  const std::string after = BodyOf(TestModel(), request);
  const std::string_view kept = std::string_view(before).substr(0, before.size() - 2);  // "]}"
  EXPECT_TRUE(after.starts_with(kept));
  EXPECT_GT(after.size(), before.size());
}

TEST(GoogleGenerativeAiRequest, SignaturesGoBackToTheirOwnModelOnly) {
  Request request;
  const auto replay = [&](const std::string& model, Thinking thinking) {
    request.entries = {Turn(
        {TextBlock{.text = "Yes.", .signature = "s1"}, Call("c1", "s2"), Call("c2", std::nullopt)},
        model)};
    return Member(TestModel(thinking), request, "contents");
  };
  const auto expected = [](const std::string& text, const std::string& call) {
    return R"([{"role":"model","parts":[{"text":"Yes.")" + text +
           R"(},{"functionCall":{"id":"c1","name":"read","args":{"p": 1}})" + call +
           R"(},{"functionCall":{"id":"c2","name":"read","args":{"p": 1}}}]}])";
  };
  EXPECT_EQ(replay(kOwn, Thinking::kEffort),
            expected(R"(,"thoughtSignature":"s1")", R"(,"thoughtSignature":"s2")"));
  EXPECT_EQ(replay("google/other", Thinking::kNone), expected("", ""));
  EXPECT_EQ(replay("google/other", Thinking::kEffort),
            expected("", R"(,"thoughtSignature":"skip_thought_signature_validator")"));
}

TEST(GoogleGenerativeAiRequest, NeighboursOfOneRoleAreOneContentAndEmptyOnesAreNone) {
  Request request;
  request.entries = {Says("a"),
                     Turn({ThinkingBlock{.text = "only", .dialect = "google-generative-ai"}}),
                     Says(""),
                     Says("b"),
                     Turn({TextBlock{.text = "c"}}),
                     Turn({TextBlock{.text = "d"}})};
  EXPECT_EQ(Member(TestModel(), request, "contents"),
            R"([{"role":"user","parts":[{"text":"a"},{"text":"b"}]},)"
            R"({"role":"model","parts":[{"text":"c"},{"text":"d"}]}])");
}

TEST(GoogleGenerativeAiRequest, EffortIsALevelOrABudget) {
  Request request;
  request.max_tokens = 0;
  const auto config = [&](std::optional<std::string> effort, Thinking thinking) {
    request.effort = std::move(effort);
    return Member(TestModel(thinking), request, "generationConfig");
  };
  const auto level = [](const std::string& name) {
    return R"({"thinkingConfig":{"includeThoughts":true,"thinkingLevel":")" + name + R"("}})";
  };
  const auto budget = [](int tokens) {
    return R"({"thinkingConfig":{"includeThoughts":true,"thinkingBudget":)" +
           std::to_string(tokens) + "}}";
  };
  EXPECT_EQ(config(std::nullopt, Thinking::kNone), "{}");
  EXPECT_EQ(config(std::nullopt, Thinking::kEffort),
            R"({"thinkingConfig":{"includeThoughts":true}})");
  EXPECT_EQ(config("none", Thinking::kEffort), level("MINIMAL"));
  EXPECT_EQ(config("minimal", Thinking::kEffort), level("MINIMAL"));
  EXPECT_EQ(config("low", Thinking::kEffort), level("LOW"));
  EXPECT_EQ(config("medium", Thinking::kEffort), level("MEDIUM"));
  EXPECT_EQ(config("xhigh", Thinking::kEffort), level("HIGH"));
  EXPECT_EQ(config(std::nullopt, Thinking::kBudget), budget(-1));
  EXPECT_EQ(config("none", Thinking::kBudget), R"({"thinkingConfig":{"thinkingBudget":0}})");
  EXPECT_EQ(config("minimal", Thinking::kBudget), budget(1024));
  EXPECT_EQ(config("low", Thinking::kBudget), budget(4096));
  EXPECT_EQ(config("medium", Thinking::kBudget), budget(12288));
  EXPECT_EQ(config("max", Thinking::kBudget), budget(24576));
}

TEST(GoogleGenerativeAiRequest, EffortIsOneThatTheModelKnows) {
  Request request;
  request.effort = "minimal";
  Model model = TestModel();
  model.efforts = "low high";
  model.max_output = 0;
  EXPECT_EQ(Member(model, request, "generationConfig"),
            R"({"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}})");
}

TEST(GoogleGenerativeAiRequest, TheChoiceOfToolsIsAMode) {
  Request request = FullRequest();
  const auto mode = [&](ToolChoice::Kind kind) {
    request.tool_choice.kind = kind;
    return Member(TestModel(), request, "toolConfig");
  };
  EXPECT_EQ(mode(ToolChoice::Kind::kAuto), R"({"functionCallingConfig":{"mode":"AUTO"}})");
  EXPECT_EQ(mode(ToolChoice::Kind::kNone), R"({"functionCallingConfig":{"mode":"NONE"}})");
  EXPECT_EQ(mode(ToolChoice::Kind::kAny), R"({"functionCallingConfig":{"mode":"ANY"}})");
  request.tools.clear();
  EXPECT_EQ(mode(ToolChoice::Kind::kAny), "");
}

TEST(GoogleGenerativeAiRequest, WhatAServerRefusesIsLeftOut) {
  Model model = TestModel(Thinking::kNone);
  model.quirks = {.no_tool_choice = true, .no_json_schema = true};
  EXPECT_EQ(Member(model, FullRequest(), "toolConfig"), "");
  EXPECT_EQ(Member(model, FullRequest(), "generationConfig"),
            R"({"maxOutputTokens":5000,"stopSequences":["END"],)"
            R"("responseMimeType":"application/json"})");
  model.quirks.no_tools = true;
  EXPECT_EQ(Member(model, FullRequest(), "tools"), "");
}

TEST(GoogleGenerativeAiRequest, AnImageThatCannotBeReadFailsIt) {
  Request request = FullRequest();
  request.read_blob = nullptr;
  EXPECT_EQ(BodyOf(TestModel(), request), "failed: the request has images but no blobs");
}

const Model kModel = TestModel();

Decoded Read(std::string_view bytes) {
  return DecodeReply(kModel, google_generative_ai::MakeDecoder, {bytes});
}

std::string Sse(const std::vector<std::string>& events) {
  std::string out;
  for (const std::string& data : events) out += "data: " + data + "\r\n\r\n";
  return out;
}

/// A response with these parts, as one event.
std::string Parts(const std::string& parts, const std::string& rest = "") {
  return R"({"candidates":[{"content":{"parts":[)" + parts + R"(],"role":"model"},"index":0)" +
         rest + R"(}]})";
}

const std::string kFinish = R"({"candidates":[{"finishReason":"STOP"}]})";

std::string WholeReply() {
  const auto chunk = [](const std::string& parts, const std::string& finish,
                        const std::string& usage) {
    return R"({"candidates":[{"content":{"parts":[)" + parts + R"(],"role":"model"})" + finish +
           R"(,"index":0}],"usageMetadata":)" + usage +
           R"(,"modelVersion":"gemini-test-1","responseId":"r"})";
  };
  const std::string early = R"({"promptTokenCount":537,"cachedContentTokenCount":500})";
  const std::string late =
      R"({"usageMetadata":{"promptTokenCount":537,"cachedContentTokenCount":500,)"
      R"("toolUsePromptTokenCount":3,"candidatesTokenCount":50,"thoughtsTokenCount":40,)"
      R"("totalTokenCount":630}})";
  return Sse({
      chunk(R"({"text":"h\u00e4","thought":true})", "", early),
      chunk(R"({"text":"m","thought":true},{"text":"I read "})", "", early),
      chunk(R"({"text":"世\n"})", "", early),
      chunk(R"({"text":"","thoughtSignature":"c2ln"})", "", early),
      chunk(
          R"({"functionCall":{"id":"f1","name":"read","args":{"p": 1}},"thoughtSignature":"czI="},)"
          R"({"functionCall":{"name":"list"}})",
          R"(,"finishReason":"STOP")", early),
      late,
  });
}

const char* const kWholeEvents =
    R"({"type":"message_start","model":"gemini-test-1"}
{"type":"block_start","index":0,"kind":"thinking"}
{"type":"thinking_delta","index":0,"text":"hä"}
{"type":"usage","usage":{"input":37,"output":0,"cacheRead":500}}
{"type":"thinking_delta","index":0,"text":"m"}
{"type":"block_end","index":0,"block":{"type":"thinking","text":"häm","dialect":"google-generative-ai"}}
{"type":"block_start","index":1,"kind":"text"}
{"type":"text_delta","index":1,"text":"I read "}
{"type":"text_delta","index":1,"text":"世\n"}
{"type":"block_end","index":1,"block":{"type":"text","text":"I read 世\n","signature":"c2ln"}}
{"type":"block_start","index":2,"kind":"tool_call","toolCallId":"ID1","toolName":"read"}
{"type":"tool_call_delta","index":2,"text":"{\"p\": 1}"}
{"type":"block_end","index":2,"block":{"type":"tool_call","toolCallId":"ID1","nativeId":"f1","toolName":"read","args":{"p": 1},"signature":"czI="}}
{"type":"block_start","index":3,"kind":"tool_call","toolCallId":"ID2","toolName":"list"}
{"type":"block_end","index":3,"block":{"type":"tool_call","toolCallId":"ID2","toolName":"list","args":{}}}
{"type":"usage","usage":{"input":40,"output":90,"cacheRead":500,"reasoning":40}}
{"type":"stopped","reason":"tool_use"}
{"type":"message_end"}
)";

TEST(GoogleGenerativeAiReply, AWholeReplyIsTheseEvents) {
  const Decoded decoded = Read(WholeReply());
  EXPECT_EQ(decoded.events, WithIds(kWholeEvents));
  EXPECT_TRUE(decoded.ended);
  EXPECT_TRUE(decoded.reply.usage_final);
  EXPECT_EQ(decoded.reply.content.blocks.size(), 4U);
}

TEST(GoogleGenerativeAiReply, ComesInAnyPieces) {
  const std::string bytes = WholeReply();
  const std::string whole = Read(bytes).events;
  Random random(7);
  for (int i = 0; i <= 200; ++i) {
    const Pieces pieces = Split(bytes, i == 0 ? 1 : 1 + random.Below(300), random);
    ASSERT_EQ(DecodeReply(kModel, google_generative_ai::MakeDecoder, pieces).events, whole);
  }
}

TEST(GoogleGenerativeAiReply, CutAnywhereItHasEndedOnlyWithItsFinishReason) {
  const std::string bytes = WholeReply();
  const std::string_view all(bytes);
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::string_view cut = all.substr(0, size);
    const Decoded decoded = Read(cut);
    const std::size_t reason = cut.find("finishReason");
    const bool known = reason != std::string_view::npos && cut.find("\"r\"}", reason) != cut.npos;
    ASSERT_TRUE(known || !decoded.ended) << size;
    ASSERT_EQ(decoded.reply.failure.has_value(), !decoded.ended) << size;
  }
}

TEST(GoogleGenerativeAiReply, EveryFinishReasonHasItsMeaning) {
  const std::vector<std::pair<std::string, std::string_view>> reasons = {
      {"STOP", stop::kEnd},
      {"MAX_TOKENS", stop::kMaxTokens},
      {"SAFETY", stop::kRefused},
      {"RECITATION", stop::kRefused},
      {"BLOCKLIST", stop::kRefused},
      {"PROHIBITED_CONTENT", stop::kRefused},
      {"SPII", stop::kRefused},
      {"IMAGE_SAFETY", stop::kRefused},
      {"LANGUAGE", stop::kRefused},
      {"MALFORMED_FUNCTION_CALL", stop::kOther},
      {"UNEXPECTED_TOOL_CALL", stop::kOther},
      {"SOMETHING_NEW", stop::kOther},
  };
  for (const auto& [wire, reason] : reasons) {
    const Decoded decoded = Read(Sse({R"({"candidates":[{"finishReason":")" + wire + R"("}]})"}));
    EXPECT_EQ(decoded.reply.content.stop_reason, reason) << wire;
    EXPECT_TRUE(decoded.ended) << wire;
  }
}

TEST(GoogleGenerativeAiReply, WithoutAFinishReasonItIsTruncated) {
  const Decoded decoded = Read(Sse(
      {Parts(R"({"text":"Hi"})"), Parts("", R"(,"finishReason":"FINISH_REASON_UNSPECIFIED")")}));
  EXPECT_FALSE(decoded.ended);
  ASSERT_TRUE(decoded.reply.failure);
  EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kTruncated);
  EXPECT_EQ(protocol::PlainText(decoded.reply.content.blocks), "Hi");
}

TEST(GoogleGenerativeAiReply, AnErrorAfterTextKeepsTheText) {
  const Decoded decoded = Read(
      Sse({Parts(R"({"text":"Hi"})"),
           R"({"error":{"code":503,"message":"Try later","status":"UNAVAILABLE"}})", kFinish}));
  EXPECT_FALSE(decoded.ended);
  ASSERT_TRUE(decoded.reply.failure);
  EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kOverloaded);
  EXPECT_EQ(decoded.reply.failure->message, "Try later");
  EXPECT_EQ(protocol::PlainText(decoded.reply.content.blocks), "Hi");
}

TEST(GoogleGenerativeAiReply, ABlockedPromptIsRefused) {
  const Decoded decoded = Read(Sse({R"({"promptFeedback":{"blockReason":"SAFETY"},)"
                                    R"("usageMetadata":{"promptTokenCount":9}})"}));
  ASSERT_TRUE(decoded.reply.failure);
  EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kRefused);
  EXPECT_EQ(decoded.reply.failure->message, "the request was blocked by a content filter: SAFETY");
  EXPECT_EQ(decoded.reply.content.usage, protocol::Usage{.input = 9});
}

TEST(GoogleGenerativeAiReply, WhatIsNotAJsonObjectFailsItAndIsQuoted) {
  for (const std::string data : {"{\"candidates\":", "nonsense", "[]", "{}x"}) {
    const Decoded decoded = Read(Sse({Parts(R"({"text":"Hi"})"), data, kFinish}));
    ASSERT_TRUE(decoded.reply.failure) << data;
    EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kGarbled);
    EXPECT_NE(decoded.reply.failure->message.find(data), std::string::npos);
    EXPECT_EQ(protocol::PlainText(decoded.reply.content.blocks), "Hi");
  }
  const Decoded decoded = Read(Sse({std::string(10'000, 'x')}));
  EXPECT_LT(decoded.reply.failure->message.size(), 300U);
}

TEST(GoogleGenerativeAiReply, MembersMayBeMissingOrOfAnotherKind) {
  const Decoded decoded = Read(Sse({
      R"({})",
      R"({"candidates":null,"usageMetadata":7,"modelVersion":[],"promptFeedback":"x"})",
      R"({"candidates":[3]})",
      R"({"candidates":[{"content":"x","finishReason":null}]})",
      R"({"candidates":[{"content":{"parts":{}}}]})",
      Parts(R"(5,{},{"text":null},{"thought":"x","text":"Hi"},{"functionCall":{}})"),
      Parts(R"({"functionCall":{"name":"read","args":null}},{"inlineData":{}})"),
      R"({"candidates":[{"content":{"parts":null,"role":1}}],"usageMetadata":{"promptTokenCount":"x"}})",
      kFinish,
  }));
  EXPECT_EQ(decoded.events, WithIds(R"({"type":"message_start","model":""}
{"type":"block_start","index":0,"kind":"text"}
{"type":"text_delta","index":0,"text":"Hi"}
{"type":"block_end","index":0,"block":{"type":"text","text":"Hi"}}
{"type":"block_start","index":1,"kind":"tool_call","toolCallId":"ID1","toolName":"read"}
{"type":"block_end","index":1,"block":{"type":"tool_call","toolCallId":"ID1","toolName":"read","args":{}}}
{"type":"usage","usage":{"input":0,"output":0}}
{"type":"stopped","reason":"tool_use"}
{"type":"message_end"}
)"));
}

TEST(GoogleGenerativeAiReply, TextBetweenThoughtsIsItsOwnBlock) {
  const Decoded decoded =
      Read(Sse({Parts(R"({"text":"a","thought":true})"), Parts(R"({"text":"b"})"),
                Parts(R"({"text":"c"})"), Parts(R"({"text":"d","thought":true})"),
                Parts(R"({"text":"e"},{"thoughtSignature":"s"})"), kFinish}));
  const auto thought = [](const char* text) {
    return ThinkingBlock{.text = text, .dialect = "google-generative-ai"};
  };
  const protocol::Blocks expected = {thought("a"), TextBlock{.text = "bc"}, thought("d"),
                                     TextBlock{.text = "e", .signature = "s"}};
  EXPECT_EQ(decoded.reply.content.blocks, expected);
}

TEST(GoogleGenerativeAiReply, CountsThatMakeNoSenseStayInRange) {
  const Decoded decoded =
      Read(Sse({R"({"usageMetadata":{"promptTokenCount":-4,"cachedContentTokenCount":7,)"
                R"("toolUsePromptTokenCount":9000000000000000000,)"
                R"("candidatesTokenCount":9000000000000000000,)"
                R"("thoughtsTokenCount":9000000000000000000}})",
                kFinish}));
  constexpr std::int64_t kMost = 1'000'000'000'000;
  EXPECT_EQ(
      decoded.reply.content.usage,
      (protocol::Usage{.input = kMost, .output = 2 * kMost, .cache_read = 7, .reasoning = kMost}));
}

TEST(GoogleGenerativeAiReply, TooManyCallsInOneEventFailIt) {
  std::string parts = R"({"functionCall":{"name":"read"}})";
  for (std::size_t i = 0; i < ReplyBuilder::kMaxBlocks; ++i)
    parts += R"(,{"functionCall":{"name":"read"}})";
  const Decoded decoded = Read(Sse({Parts(parts), kFinish}));
  EXPECT_FALSE(decoded.ended);
  ASSERT_TRUE(decoded.reply.failure);
  EXPECT_EQ(decoded.reply.failure->kind, FailureKind::kProtocol);
}

TEST(GoogleGenerativeAiReply, AToolCallIsCompleteWhileTheReplyGoesOn) {
  EventText sink;
  Random ids(1);
  ReplyBuilder builder(kModel, sink, ids);
  const auto decoder = google_generative_ai::MakeDecoder(builder);
  decoder->On("", Parts(R"({"functionCall":{"name":"read","args":{}}})"));
  EXPECT_NE(sink.text.find("block_end"), std::string::npos);
  EXPECT_FALSE(builder.done());
}

}  // namespace
}  // namespace stet::provider::google_generative_ai_test
