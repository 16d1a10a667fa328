#include "provider/openai/openai_fixture.h"

namespace stet::provider::openai_completions {
namespace {

Model TestModel() { return OpenAiModel(Dialect::kOpenAiCompletions); }

AssistantTurn Turn(const std::string& model) {
  return {
      .blocks = {protocol::ThinkingBlock{.text = "Hm.",
                                         .signature = R"([{"type":"reasoning.text","text":"Hm."}])",
                                         .dialect = "openai-completions"},
                 protocol::TextBlock{.text = "I look."}},
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

constexpr std::string_view kHi = R"("messages":[{"role":"user","content":"Hi"}]})";

TEST(OpenAiCompletionsRequest, ARequestWithEverythingIsWrittenToTheByte) {
  Model model = TestModel();
  model.headers = {{"x-title", "stet"}};
  const Result<WireRequest> wire = Encode(model, FullRequest(Turn("acme/m-1")));
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->url, "http://h/v1/chat/completions");
  EXPECT_EQ(wire->headers, (Headers{{"content-type", "application/json"},
                                    {"accept", "text/event-stream"},
                                    {"x-title", "stet"}}));
  EXPECT_EQ(
      wire->body,
      R"({"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":1000,)"
      R"("reasoning_effort":"max","stop":["END","\n\n"],"prompt_cache_key":"ses_1","safety_identifier":"user-1",)"
      R"("response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}},)"
      R"("tools":[{"type":"function","function":{"name":"read","description":"Reads.",)"
      R"("parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},)"
      R"({"type":"function","function":{"name":"write","description":"Writes.","parameters":{"type":"object"}}}],)"
      R"("tool_choice":{"type":"function","function":{"name":"read"}},)"
      R"("messages":[{"role":"system","content":"Be brief.\n\nToday is Monday."},)"
      R"({"role":"user","content":[{"type":"text","text":"Look \"here\""},)"
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,cGlj"}}]},)"
      R"({"role":"assistant","content":"I look.","tool_calls":[)"
      R"({"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},)"
      R"({"id":"call_b","type":"function","function":{"name":"write","arguments":"{\"pa"}}]},)"
      R"({"role":"tool","tool_call_id":"call_a","content":"seen"},)"
      R"({"role":"tool","tool_call_id":"call_b","content":"Error: malformed"},)"
      R"({"role":"user","content":[{"type":"text","text":"Images of the tool results:"},)"
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,cGlj"}}]},)"
      R"({"role":"user","content":"Go on"}]})");
}

TEST(OpenAiCompletionsRequest, TheSameRequestGivesTheSameBytes) {
  const std::string first = Body(TestModel(), FullRequest(Turn("acme/m-1")));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Body(TestModel(), FullRequest(Turn("acme/m-1"))), first);
}

TEST(OpenAiCompletionsRequest, AddingAnEntryKeepsWhatWasBefore) {
  Request request = FullRequest(Turn("acme/m-1"));
  const std::string before = Body(TestModel(), request);
  request.entries.emplace_back(Turn("acme/m-1"));
  const std::string after = Body(TestModel(), request);
  const std::string_view ending = "]}";
  ASSERT_TRUE(before.ends_with(ending));
  EXPECT_TRUE(after.starts_with(before.substr(0, before.size() - ending.size())));
}

TEST(OpenAiCompletionsRequest, WhatIsNotSetIsNotSent) {
  Model model = TestModel();
  EXPECT_EQ(Body(model, TextRequest()),
            R"({"model":"m-1","stream":true,"stream_options":{"include_usage":true},)" +
                std::string(kHi));
}

TEST(OpenAiCompletionsRequest, QuirksChangeTheSettings) {
  Model model = TestModel();
  model.max_output = 50;
  model.quirks = {.max_tokens_name = true,
                  .no_stream_options = true,
                  .no_cache_key = true,
                  .no_tool_choice = true,
                  .no_metadata = true,
                  .system_role = false,
                  .effort_object = true,
                  .no_json_schema = true};
  Request request = TextRequest();
  request.system = {"Be brief."};
  request.effort = "high";
  request.cache_key = "ses_1";
  request.user = "user-1";
  request.output = OutputSchema{.name = "answer", .schema = Raw{"{}"}};
  request.tools = {{.name = "read"}};
  request.tool_choice = {.kind = ToolChoice::Kind::kAny};
  EXPECT_EQ(
      Body(model, request),
      R"({"model":"m-1","stream":true,"max_tokens":50,"reasoning":{"effort":"high"},)"
      R"("response_format":{"type":"json_object"},)"
      R"("tools":[{"type":"function","function":{"name":"read","description":"","parameters":{"type":"object"}}}],)"
      R"("messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"Hi"}]})");
}

TEST(OpenAiCompletionsRequest, AModelWithoutToolsIsToldOfNone) {
  Model model = TestModel();
  model.quirks.no_tools = true;
  Request request = TextRequest();
  request.tools = {{.name = "read"}};
  request.tool_choice = {.kind = ToolChoice::Kind::kAny};
  EXPECT_EQ(Body(model, request), Body(model, TextRequest()));
}

TEST(OpenAiCompletionsRequest, AModelThatDoesNotThinkIsNotToldToTry) {
  Model model = TestModel();
  model.thinking = Thinking::kNone;
  Request request = TextRequest();
  request.effort = "high";
  EXPECT_EQ(Body(model, request), Body(model, TextRequest()));
}

TEST(OpenAiCompletionsRequest, AnEffortThatTheModelDoesNotKnowBecomesTheNearest) {
  Model model = TestModel();
  model.efforts = "low medium high";
  Request request = TextRequest();
  request.effort = "max";
  EXPECT_NE(Body(model, request).find(R"("reasoning_effort":"high")"), std::string::npos);
}

TEST(OpenAiCompletionsRequest, EveryToolChoiceHasItsWord) {
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

TEST(OpenAiCompletionsRequest, ReasoningGoesBackOnlyWhereItIsWanted) {
  const auto message = [](bool text, bool details, const std::string& author) {
    Model model = TestModel();
    model.quirks.echo_reasoning = text;
    model.quirks.echo_reasoning_details = details;
    Request request;
    request.entries = {Turn(author)};
    const std::string body = Body(model, request);
    return body.substr(body.find("\"messages\""));
  };
  const std::string plain = R"("messages":[{"role":"assistant","content":"I look."}]})";
  EXPECT_EQ(message(false, false, "acme/m-1"), plain);
  EXPECT_EQ(message(true, true, "acme/other"), plain);
  EXPECT_EQ(message(true, false, "acme/m-1"),
            R"("messages":[{"role":"assistant","reasoning_content":"Hm.","content":"I look."}]})");
  EXPECT_EQ(
      message(false, true, "acme/m-1"),
      R"("messages":[{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"Hm."}],)"
      R"("content":"I look."}]})");
}

TEST(OpenAiCompletionsRequest, DetailsOfAllBlocksGoBackInOrder) {
  Model model = TestModel();
  model.quirks.echo_reasoning_details = true;
  AssistantTurn turn = Turn("acme/m-1");
  protocol::ToolCallBlock call = CallBlock("e_1", "call_a", "read", "{}");
  call.signature = R"([{"data":"x"}, {"data":"y"}])";
  turn.blocks.emplace_back(call);
  Request request;
  request.entries = {turn};
  EXPECT_NE(
      Body(model, request)
          .find(
              R"("reasoning_details":[{"type":"reasoning.text","text":"Hm."},{"data":"x"},{"data":"y"}])"),
      std::string::npos);
}

TEST(OpenAiCompletionsRequest, ATurnOfCallsAloneHasNullContent) {
  Request request;
  request.entries = {
      AssistantTurn{.blocks = {CallBlock("e_1", "call_a", "read", "{}")}, .model = "other/m"}};
  EXPECT_NE(Body(TestModel(), request)
                .find(R"([{"role":"assistant","content":null,"tool_calls":[{"id":"e_1")"),
            std::string::npos);
}

TEST(OpenAiCompletionsRequest, ATurnOfWhichNothingIsLeftIsLeftOut) {
  Request request = TextRequest();
  request.entries.emplace_back(AssistantTurn{
      .blocks = {protocol::ThinkingBlock{.text = "Hm."}, protocol::TextBlock{.text = " \n"}},
      .model = "other/m"});
  EXPECT_EQ(Body(TestModel(), request), Body(TestModel(), TextRequest()));
}

TEST(OpenAiCompletionsRequest, AnImageThatCannotBeReadIsAnError) {
  Request request = FullRequest(Turn("acme/m-1"));
  request.read_blob = [](const std::string&) -> Result<std::string> {
    return Fail(Code::kNotFound, "no such blob");
  };
  const Result<WireRequest> wire = Encode(TestModel(), request);
  ASSERT_FALSE(wire);
  EXPECT_EQ(wire.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace stet::provider::openai_completions
