#include "provider/openai/openai_fixture.h"

namespace stet::provider::openai_responses {
namespace {

constexpr std::string_view kItem =
    R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"AB=="})";
constexpr std::string_view kHidden =
    R"({"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"CD=="})";

Model TestModel() { return OpenAiModel(Dialect::kOpenAiResponses); }

AssistantTurn Turn(const std::string& model) {
  return {
      .blocks = {protocol::ThinkingBlock{
                     .text = "Hm.", .signature = std::string(kItem), .dialect = "openai-responses"},
                 protocol::RedactedThinkingBlock{.data = Raw{std::string(kHidden)},
                                                 .dialect = "openai-responses"},
                 protocol::TextBlock{.text = "I look.", .signature = "commentary"}},
      .model = model};
}

Request TextRequest() {
  Request request;
  request.entries = {UserInput{.blocks = {protocol::TextBlock{.text = "Hi"}}}};
  return request;
}

std::string Body(const Model& model, const Request& request) {
  return BodyOf(Encode(model, request));
}

TEST(OpenAiResponsesRequest, ARequestWithEverythingIsWrittenToTheByte) {
  Model model = TestModel();
  model.headers = {{"x-title", "stet"}};
  const Result<WireRequest> wire = Encode(model, FullRequest(Turn("acme/m-1")));
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->url, "http://h/v1/responses");
  EXPECT_EQ(wire->headers, (Headers{{"content-type", "application/json"},
                                    {"accept", "text/event-stream"},
                                    {"x-title", "stet"}}));
  EXPECT_EQ(
      wire->body,
      R"({"model":"m-1","stream":true,"store":false,"max_output_tokens":1000,"prompt_cache_key":"ses_1",)"
      R"("safety_identifier":"user-1","include":["reasoning.encrypted_content"],)"
      R"("reasoning":{"effort":"max","summary":"auto"},)"
      R"("text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"}}},)"
      R"("instructions":"Be brief.\n\nToday is Monday.",)"
      R"("tools":[{"type":"function","name":"read","description":"Reads.",)"
      R"("parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false},)"
      R"({"type":"function","name":"write","description":"Writes.","parameters":{"type":"object"},"strict":false}],)"
      R"("parallel_tool_calls":true,"tool_choice":{"type":"function","name":"read"},)"
      R"("input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Look \"here\""},)"
      R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cGlj"}]},)" +
          std::string(kItem) + "," + std::string(kHidden) +
          R"(,{"type":"message","role":"assistant","phase":"commentary","content":"I look."},)"
          R"({"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"},)"
          R"({"type":"function_call","call_id":"call_b","name":"write","arguments":"{\"pa"},)"
          R"({"type":"function_call_output","call_id":"call_a","output":[{"type":"input_text","text":"seen"},)"
          R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,cGlj"}]},)"
          R"({"type":"function_call_output","call_id":"call_b","output":"Error: malformed"},)"
          R"({"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}]})");
}

TEST(OpenAiResponsesRequest, TheSameRequestGivesTheSameBytes) {
  const std::string first = Body(TestModel(), FullRequest(Turn("acme/m-1")));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Body(TestModel(), FullRequest(Turn("acme/m-1"))), first);
}

TEST(OpenAiResponsesRequest, AddingAnEntryKeepsWhatWasBefore) {
  Request request = FullRequest(Turn("acme/m-1"));
  const std::string before = Body(TestModel(), request);
  request.entries.emplace_back(Turn("acme/m-1"));
  const std::string after = Body(TestModel(), request);
  const std::string_view ending = "]}";
  ASSERT_TRUE(before.ends_with(ending));
  EXPECT_TRUE(after.starts_with(before.substr(0, before.size() - ending.size())));
}

TEST(OpenAiResponsesRequest, WhatIsNotSetIsNotSent) {
  Model model = TestModel();
  model.thinking = Thinking::kNone;
  Request request = TextRequest();
  request.effort = "high";
  EXPECT_EQ(
      Body(model, request),
      R"({"model":"m-1","stream":true,"store":false,)"
      R"("input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]})");
}

TEST(OpenAiResponsesRequest, QuirksChangeTheSettings) {
  Model model = TestModel();
  model.max_output = 50;
  model.quirks = {.no_cache_key = true,
                  .no_tool_choice = true,
                  .no_strict = true,
                  .no_parallel_flag = true,
                  .no_metadata = true,
                  .no_json_schema = true};
  Request request = TextRequest();
  request.cache_key = "ses_1";
  request.user = "user-1";
  request.output = OutputSchema{.name = "answer", .schema = Raw{"{}"}};
  request.tools = {{.name = "read"}};
  request.tool_choice = {.kind = ToolChoice::Kind::kAny};
  EXPECT_EQ(
      Body(model, request),
      R"({"model":"m-1","stream":true,"store":false,"max_output_tokens":50,)"
      R"("include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},)"
      R"("text":{"format":{"type":"json_object"}},)"
      R"("tools":[{"type":"function","name":"read","description":"","parameters":{"type":"object"}}],)"
      R"("input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]})");
  model.quirks.no_tools = true;
  EXPECT_EQ(Body(model, request).find("\"tool"), std::string::npos);
}

TEST(OpenAiResponsesRequest, AnEffortThatTheModelDoesNotKnowBecomesTheNearest) {
  Model model = TestModel();
  model.efforts = "low medium high";
  Request request = TextRequest();
  request.effort = "max";
  EXPECT_NE(Body(model, request).find(R"("reasoning":{"effort":"high","summary":"auto"})"),
            std::string::npos);
}

TEST(OpenAiResponsesRequest, EveryToolChoiceHasItsWord) {
  Request request = TextRequest();
  request.tools = {{.name = "read"}};
  const auto body = [&](ToolChoice choice) {
    request.tool_choice = std::move(choice);
    return Body(TestModel(), request);
  };
  using Kind = ToolChoice::Kind;
  EXPECT_EQ(body({.kind = Kind::kAuto}).find("tool_choice"), std::string::npos);
  EXPECT_NE(body({.kind = Kind::kNone}).find(R"("tool_choice":"none")"), std::string::npos);
  EXPECT_NE(body({.kind = Kind::kAny}).find(R"("tool_choice":"required")"), std::string::npos);
}

TEST(OpenAiResponsesRequest, AnotherModelSeesNoReasoningAndNoPhase) {
  Request request;
  request.entries = {Turn("acme/other")};
  const std::string body = Body(TestModel(), request);
  EXPECT_EQ(body.substr(body.find("\"input\"")),
            R"("input":[{"type":"message","role":"assistant","content":"I look."}]})");
}

TEST(OpenAiResponsesRequest, ReasoningThatIsNoItemIsNotSent) {
  Request request;
  request.entries = {AssistantTurn{
      .blocks = {protocol::ThinkingBlock{.text = "a", .dialect = "openai-responses"},
                 protocol::ThinkingBlock{
                     .text = "b", .signature = "{\"cut", .dialect = "openai-responses"},
                 protocol::ThinkingBlock{
                     .text = "c", .signature = "[1]", .dialect = "openai-responses"},
                 protocol::RedactedThinkingBlock{.data = Raw{"\"x\""},
                                                 .dialect = "openai-responses"},
                 protocol::RedactedThinkingBlock{.data = Raw{"{}"}, .dialect = "openai-responses"},
                 protocol::TextBlock{.text = "t", .signature = "[1]"}},
      .model = "acme/m-1"}};
  const std::string body = Body(TestModel(), request);
  EXPECT_EQ(body.substr(body.find("\"input\"")),
            R"("input":[{"type":"message","role":"assistant","content":"t"}]})");
}

TEST(OpenAiResponsesRequest, AnImageThatCannotBeReadIsAnError) {
  Request request = FullRequest(Turn("acme/m-1"));
  request.read_blob = nullptr;
  const Result<WireRequest> wire = Encode(TestModel(), request);
  ASSERT_FALSE(wire);
  EXPECT_EQ(wire.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet::provider::openai_responses
