#include <gtest/gtest.h>

#include "json/view.h"
#include "provider/dialect.h"

namespace stet::provider::anthropic_messages_request_test {
namespace {

using protocol::ImageBlock;
using protocol::RedactedThinkingBlock;
using protocol::TextBlock;
using protocol::ThinkingBlock;
using protocol::ToolCallBlock;

constexpr const char* kOwn = "anthropic/claude-test";

Model TestModel(Thinking thinking = Thinking::kAdaptive) {
  return {.provider = "anthropic",
          .id = "claude-test",
          .dialect = Dialect::kAnthropicMessages,
          .base_url = "http://host",
          .headers = {{"x-extra", "1"}},
          .max_output = 8000,
          .thinking = thinking};
}

ThinkingBlock Thought(std::string text, std::optional<std::string> signature) {
  return {
      .text = std::move(text), .signature = std::move(signature), .dialect = "anthropic-messages"};
}

ToolCallBlock Call(std::string id, std::string native, std::string args) {
  return {.tool_call_id = std::move(id),
          .native_id = std::move(native),
          .tool_name = "read",
          .args = Raw{std::move(args)}};
}

AssistantTurn Turn(protocol::Blocks blocks, std::string model = kOwn) {
  return {.blocks = std::move(blocks), .model = std::move(model)};
}

UserInput Says(std::string text) { return {.blocks = {TextBlock{.text = std::move(text)}}}; }

ToolResult Answers(std::string id, std::string text) {
  return {.tool_call_id = std::move(id), .content = {TextBlock{.text = std::move(text)}}};
}

Request FullRequest() {
  Request request;
  request.system = {"Be brief.", " ", "Today is Monday."};
  request.tools = {{"read", "Reads.", Raw{R"({"type":"object","properties":{}})"}},
                   {"write", "Writes.", Raw{R"({"type":"object"})"}}};
  request.effort = "high";
  request.max_tokens = 5000;
  request.stop_sequences = {"END"};
  request.user = "u1";
  request.output = OutputSchema{.name = "out", .schema = Raw{R"({"type":"object"})"}};
  request.tool_choice.kind = ToolChoice::Kind::kAny;
  request.read_blob = [](const std::string& blob) -> Result<std::string> {
    return "bytes:" + blob;
  };
  request.entries = {
      UserInput{{TextBlock{.text = "Look"}, TextBlock{.text = "\n"},
                 ImageBlock{.media_type = "image/png", .blob = "b1"}}},
      Turn({Thought("hm", "sig1"),
            RedactedThinkingBlock{.data = Raw{R"("op\/aque")"}, .dialect = "anthropic-messages"},
            TextBlock{.text = "Reading."}, Call("c1", "toolu_1", R"({"p": 1})"),
            Call("c2", "toolu_2", R"("{broken")")}),
      ToolResult{"c1",
                 {TextBlock{.text = "one"}, ImageBlock{.media_type = "image/gif", .blob = "b2"}}},
      ToolResult{"c2", {TextBlock{.text = "bad args"}}, true},
      Says("Go on"),
  };
  return request;
}

std::string BodyOf(const Model& model, const Request& request) {
  const Result<WireRequest> wire = anthropic_messages::Encode(model, request);
  return wire ? wire->body : "failed: " + wire.error().message;
}

std::string Member(const Model& model, const Request& request, std::string_view name) {
  const std::string body = BodyOf(model, request);
  return std::string(JsonView(body)[name].text());
}

std::string Messages(std::vector<Entry> entries, const Model& model = TestModel()) {
  Request request;
  request.cache = false;
  request.entries = std::move(entries);
  return Member(model, request, "messages");
}

TEST(AnthropicMessagesRequest, AGoldenOneWithEverythingInIt) {
  const Result<WireRequest> wire = anthropic_messages::Encode(TestModel(), FullRequest());
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->url, "http://host/v1/messages");
  const Headers headers = {{"content-type", "application/json"},
                           {"accept", "text/event-stream"},
                           {"anthropic-version", "2023-06-01"},
                           {"x-extra", "1"}};
  EXPECT_EQ(wire->headers, headers);
  EXPECT_EQ(
      wire->body,
      R"({"model":"claude-test","max_tokens":5000,"stream":true,)"
      R"("thinking":{"type":"adaptive","display":"summarized"},"stop_sequences":["END"],)"
      R"("metadata":{"user_id":"u1"},)"
      R"("output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}}},)"
      R"("system":[{"type":"text","text":"Be brief."},)"
      R"({"type":"text","text":"Today is Monday.","cache_control":{"type":"ephemeral"}}],)"
      R"("tools":[{"name":"read","description":"Reads.",)"
      R"("input_schema":{"type":"object","properties":{}}},)"
      R"({"name":"write","description":"Writes.","input_schema":{"type":"object"},)"
      R"("cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"auto"},)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"Look"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"Ynl0ZXM6YjE="},)"
      R"("cache_control":{"type":"ephemeral"}}]},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig1"},)"
      R"({"type":"redacted_thinking","data":"op\/aque"},{"type":"text","text":"Reading."},)"
      R"({"type":"tool_use","id":"toolu_1","name":"read","input":{"p": 1}},)"
      R"({"type":"tool_use","id":"toolu_2","name":"read","input":{"malformed":"{broken"}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1",)"
      R"("content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64",)"
      R"("media_type":"image/gif","data":"Ynl0ZXM6YjI="}}]},)"
      R"({"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text",)"
      R"("text":"bad args"}],"is_error":true},)"
      R"({"type":"text","text":"Go on","cache_control":{"type":"ephemeral"}}]}]})");
}

TEST(AnthropicMessagesRequest, IsTheSameEveryTime) {
  const std::string first = BodyOf(TestModel(), FullRequest());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(BodyOf(TestModel(), FullRequest()), first);
}

TEST(AnthropicMessagesRequest, AnotherEntryKeepsWhatWasThereAsAPrefix) {
  Request request = FullRequest();
  request.cache = false;
  const std::string before = BodyOf(TestModel(), request);
  request.entries.emplace_back(Turn({TextBlock{.text = "Done."}}));
  request.entries.emplace_back(Says("Thanks"));
  const std::string after = BodyOf(TestModel(), request);
  const std::string_view kept = std::string_view(before).substr(0, before.size() - 2);  // "]}"
  EXPECT_TRUE(after.starts_with(kept));
  EXPECT_GT(after.size(), before.size());
}

TEST(AnthropicMessagesRequest, MarksAreOnTheLastTwoUserMessagesOnly) {
  Request request;
  for (const char* text : {"one", "two", "three"}) {
    request.entries.emplace_back(Says(text));
    request.entries.emplace_back(Turn({TextBlock{.text = "ok"}}));
  }
  std::vector<std::string> marked;
  const std::string messages = Member(TestModel(), request, "messages");
  JsonView(messages).ForEach([&](const JsonView& message) {
    message["content"].ForEach([&](const JsonView& block) {
      if (block["cache_control"]) marked.push_back(block["text"].StringOr(""));
    });
  });
  EXPECT_EQ(marked, (std::vector<std::string>{"two", "three"}));
}

TEST(AnthropicMessagesRequest, ReasoningGoesBackToItsOwnModelOnly) {
  const protocol::Blocks blocks = {Thought("hm", "sig1"), Thought("unsigned", std::nullopt),
                                   TextBlock{.text = "Yes."}, Call("c1", "toolu_1", "{}")};
  EXPECT_EQ(
      Messages({Turn(blocks)}),
      R"([{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig1"},)"
      R"({"type":"text","text":"Yes."},)"
      R"({"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}])");
  EXPECT_EQ(Messages({Turn(blocks, "anthropic/claude-other")}),
            R"([{"role":"assistant","content":[{"type":"text","text":"Yes."},)"
            R"({"type":"tool_use","id":"c1","name":"read","input":{}}]}])");
}

TEST(AnthropicMessagesRequest, ReasoningStaysBehindWhenTheModelIsToldNotToThink) {
  Request request;
  request.cache = false;
  request.entries = {Turn({Thought("hm", "sig1"), Call("c1", "toolu_1", "{}")})};
  const auto reasons = [&](std::optional<std::string> effort, Thinking thinking) {
    request.effort = std::move(effort);
    return BodyOf(TestModel(thinking), request).find("sig1") != std::string::npos;
  };
  EXPECT_TRUE(reasons("low", Thinking::kBudget));
  EXPECT_FALSE(reasons(std::nullopt, Thinking::kBudget));
  EXPECT_TRUE(reasons(std::nullopt, Thinking::kAdaptive));
  EXPECT_FALSE(reasons("none", Thinking::kAdaptive));
  EXPECT_TRUE(reasons(std::nullopt, Thinking::kNone));
}

TEST(AnthropicMessagesRequest, NeighboursOfOneRoleAreOneMessageAndEmptyOnesAreNone) {
  EXPECT_EQ(
      Messages({Says("a"), Turn({Thought("only", "s")}), Says(" "), Says("b"),
                Turn({TextBlock{.text = "c"}}), Turn({TextBlock{.text = "d"}})}),
      R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},)"
      R"({"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}])");
}

TEST(AnthropicMessagesRequest, AResultMayBeEmptyButAnErrorMayNot) {
  EXPECT_EQ(Messages({ToolResult{.tool_call_id = "c1"},
                      ToolResult{.tool_call_id = "c2", .is_error = true}}),
            R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":""},)"
            R"({"type":"tool_result","tool_use_id":"c2",)"
            R"("content":"The tool failed and said nothing.","is_error":true}]}])");
}

TEST(AnthropicMessagesRequest, EffortBecomesAnEffortThatTheWireHas) {
  Request request;
  const auto config = [&](const char* effort, Thinking thinking) {
    request.effort = effort;
    return Member(TestModel(thinking), request, "thinking") +
           Member(TestModel(thinking), request, "output_config");
  };
  const std::string adaptive = R"({"type":"adaptive","display":"summarized"})";
  EXPECT_EQ(config("minimal", Thinking::kAdaptive), adaptive + R"({"effort":"low"})");
  EXPECT_EQ(config("max", Thinking::kAdaptive), adaptive + R"({"effort":"max"})");
  EXPECT_EQ(config("none", Thinking::kAdaptive), R"({"effort":"low"})");
  EXPECT_EQ(config("strange", Thinking::kAdaptive), adaptive);
  EXPECT_EQ(config("high", Thinking::kEffort), R"({"effort":"high"})");
  EXPECT_EQ(config("high", Thinking::kNone), "");
}

TEST(AnthropicMessagesRequest, EffortIsOneThatTheModelKnows) {
  Request request;
  request.effort = "xhigh";
  Model model = TestModel();
  model.efforts = "low medium high";
  EXPECT_EQ(Member(model, request, "output_config"), R"({"effort":"high"})");
}

std::string BudgetFor(std::optional<std::string> effort, std::int64_t max_tokens,
                      std::vector<Entry> entries = {}) {
  Request request;
  request.effort = std::move(effort);
  request.max_tokens = max_tokens;
  request.entries = std::move(entries);
  return Member(TestModel(Thinking::kBudget), request, "thinking");
}

std::string Budget(int tokens) {
  return R"({"type":"enabled","budget_tokens":)" + std::to_string(tokens) + "}";
}

TEST(AnthropicMessagesRequest, ABudgetIsBelowTheLimitOrThereIsNone) {
  EXPECT_EQ(BudgetFor("low", 100'000), Budget(4096));
  EXPECT_EQ(BudgetFor("medium", 100'000), Budget(12288));
  EXPECT_EQ(BudgetFor("high", 100'000), Budget(32768));
  EXPECT_EQ(BudgetFor("xhigh", 100'000), Budget(65536));
  EXPECT_EQ(BudgetFor("max", 20'000), Budget(19'999));
  EXPECT_EQ(BudgetFor("low", 1025), Budget(1024));
  EXPECT_EQ(BudgetFor("low", 1024), "");
  EXPECT_EQ(BudgetFor("none", 100'000), "");
  EXPECT_EQ(BudgetFor("minimal", 100'000), "");
  EXPECT_EQ(BudgetFor(std::nullopt, 100'000), "");
}

TEST(AnthropicMessagesRequest, CallsThatBeganWithoutReasoningLeaveNoRoomForABudget) {
  const Entry call = Turn({Call("c1", "toolu_1", "{}")});
  const Entry thoughtful = Turn({Thought("hm", "sig"), Call("c0", "toolu_0", "{}")});
  const Entry foreign = Turn({Thought("hm", "sig"), Call("c0", "toolu_0", "{}")}, "x/y");
  const Entry text = Turn({TextBlock{.text = "Done."}});
  const Entry result = Answers("c1", "r");
  EXPECT_EQ(BudgetFor("low", 9000, {Says("a"), foreign, result}), "");
  EXPECT_EQ(BudgetFor("low", 9000, {Says("a"), foreign, result, Says("b")}), "");
  EXPECT_EQ(BudgetFor("low", 9000, {Says("a"), thoughtful, result, Says("b"), call, result}), "");
  EXPECT_EQ(BudgetFor("low", 9000, {Says("a"), thoughtful, result}), Budget(4096));
  EXPECT_EQ(BudgetFor("low", 9000, {Says("a"), thoughtful, result, call, result}), Budget(4096));
  EXPECT_EQ(BudgetFor("low", 9000, {Says("a"), foreign, result, text, Says("b")}), Budget(4096));
}

TEST(AnthropicMessagesRequest, AToolIsForcedOnlyWhereNothingIsThought) {
  Request request;
  request.tools = {{"read", "Reads.", Raw{R"({"type":"object"})"}}};
  const auto choice = [&](ToolChoice::Kind kind, Thinking thinking) {
    request.tool_choice = {.kind = kind, .name = "read"};
    return Member(TestModel(thinking), request, "tool_choice");
  };
  using Kind = ToolChoice::Kind;
  EXPECT_EQ(choice(Kind::kAuto, Thinking::kNone), R"({"type":"auto"})");
  EXPECT_EQ(choice(Kind::kAny, Thinking::kNone), R"({"type":"any"})");
  EXPECT_EQ(choice(Kind::kNamed, Thinking::kNone), R"({"type":"tool","name":"read"})");
  EXPECT_EQ(choice(Kind::kNamed, Thinking::kAdaptive), R"({"type":"auto"})");
  EXPECT_EQ(choice(Kind::kNone, Thinking::kAdaptive), R"({"type":"none"})");
}

TEST(AnthropicMessagesRequest, ThereIsAlwaysALimit) {
  Request request;
  Model model = TestModel();
  EXPECT_EQ(Member(model, request, "max_tokens"), "8000");
  model.max_output = 0;
  EXPECT_EQ(Member(model, request, "max_tokens"), "4096");
}

TEST(AnthropicMessagesRequest, WhatAServerRefusesIsLeftOut) {
  Model model = TestModel();
  model.quirks = {.no_tool_choice = true, .no_metadata = true, .no_json_schema = true};
  EXPECT_EQ(Member(model, FullRequest(), "tool_choice"), "");
  EXPECT_EQ(Member(model, FullRequest(), "metadata"), "");
  EXPECT_EQ(Member(model, FullRequest(), "output_config"), R"({"effort":"high"})");
  model.quirks.no_tools = true;
  EXPECT_EQ(Member(model, FullRequest(), "tools"), "");
}

TEST(AnthropicMessagesRequest, AnImageThatCannotBeReadFailsIt) {
  Request request = FullRequest();
  request.read_blob = [](const std::string&) -> Result<std::string> {
    return Fail(Code::kNotFound, "no such blob");
  };
  EXPECT_EQ(BodyOf(TestModel(), request), "failed: no such blob");
}

}  // namespace
}  // namespace stet::provider::anthropic_messages_request_test
