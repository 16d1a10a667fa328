#include "provider/wire_parts.h"

#include <gtest/gtest.h>

#include "json/view.h"
#include "provider/dialect.h"

namespace stet::provider {
namespace {

constexpr Dialect kWires[] = {Dialect::kAnthropicMessages, Dialect::kOpenAiCompletions,
                              Dialect::kOpenAiResponses, Dialect::kGoogleGenerativeAi};

Model ModelOf(Dialect dialect) {
  Model model;
  model.provider = "p";
  model.id = "m";
  model.dialect = dialect;
  model.max_output = 4096;
  model.thinking = dialect == Dialect::kAnthropicMessages ? Thinking::kAdaptive : Thinking::kEffort;
  return model;
}

UserInput Said(std::string text) {
  protocol::TextBlock block;
  block.text = std::move(text);
  UserInput input;
  input.blocks.emplace_back(std::move(block));
  return input;
}

AssistantTurn Calling(const std::string& id) {
  AssistantTurn turn;
  turn.model = "p/m";
  protocol::TextBlock text;
  text.text = "I look.";
  turn.blocks.emplace_back(std::move(text));
  protocol::ToolCallBlock call;
  call.tool_call_id = id;
  call.tool_name = "read";
  call.args = Raw{"{}"};
  turn.blocks.emplace_back(std::move(call));
  return turn;
}

ToolResult ResultOf(const std::string& id) {
  ToolResult result;
  result.tool_call_id = id;
  result.content = Said("result of " + id).blocks;
  return result;
}

Request Asking() {
  Request request;
  request.system = {"Be brief.", "Today is Monday."};
  request.tools = {{.name = "write", .description = "Writes."},
                   {.name = "read", .description = "Reads."}};
  request.effort = "high";
  request.entries.emplace_back(Said("one"));
  return request;
}

std::vector<std::string> TextsOf(const WireRequest& wire) {
  std::vector<std::string> texts;
  for (const WirePart& part : wire.parts)
    texts.push_back(wire.body.substr(part.begin, part.end - part.begin));
  return texts;
}

TEST(WirePartsTest, PartsAreInTheOrderOfThePromptAndMarksAreOutsideOfThem) {
  const Result<WireRequest> wire = EncodeRequest(ModelOf(Dialect::kAnthropicMessages), Asking());
  ASSERT_TRUE(wire);
  EXPECT_EQ(
      TextsOf(*wire),
      (std::vector<std::string>{
          R"("effort":"high")",
          R"({"name":"write","description":"Writes.","input_schema":{"type":"object"})",
          R"({"name":"read","description":"Reads.","input_schema":{"type":"object"})",
          R"({"type":"text","text":"Be brief.")", R"({"type":"text","text":"Today is Monday.")",
          R"("thinking":{"type":"adaptive","display":"summarized"})",
          R"("tool_choice":{"type":"auto"})",
          R"({"role":"user","content":[{"type":"text","text":"one")"}));
  std::vector<bool> marks;
  for (const WirePart& part : wire->parts) {
    marks.push_back(part.mark);
    if (!part.mark) continue;
    EXPECT_TRUE(std::string_view(wire->body).substr(part.end).starts_with(R"(,"cache_control")"));
  }
  EXPECT_EQ(marks, (std::vector<bool>{false, false, true, false, true, false, false, true}));
}

TEST(WirePartsTest, TheOtherDialectsHaveTheirToolsTheSystemAndEveryMessage) {
  Request request = Asking();
  request.entries.emplace_back(Calling("t1"));
  request.entries.emplace_back(ResultOf("t1"));
  for (const Dialect dialect : kWires) {
    if (dialect == Dialect::kAnthropicMessages) continue;
    const Result<WireRequest> wire = EncodeRequest(ModelOf(dialect), request);
    ASSERT_TRUE(wire);
    std::string kinds;
    for (const WirePart& part : wire->parts) kinds += "eotsTcm"[static_cast<int>(part.kind)];
    EXPECT_EQ(kinds, dialect == Dialect::kOpenAiCompletions ? "ttsmmm" : "ttsmmmm");
    const std::vector<std::string> texts = TextsOf(*wire);
    EXPECT_NE(texts[0].find("\"write\""), std::string::npos)
        << "in the request's order: " << texts[0];
    EXPECT_NE(texts[1].find("\"read\""), std::string::npos) << texts[1];
    EXPECT_NE(texts[2].find("Be brief."), std::string::npos) << texts[2];
    EXPECT_NE(texts.back().find("result of t1"), std::string::npos) << texts.back();
  }
}

TEST(WirePartsTest, AConversationThatGoesOnKeepsThePartsBefore) {
  for (const Dialect dialect : kWires) {
    Request request = Asking();
    std::vector<std::string> before;
    for (int step = 0; step < 6; ++step) {
      const Result<WireRequest> wire = EncodeRequest(ModelOf(dialect), request);
      ASSERT_TRUE(wire);
      EXPECT_TRUE(CheckJson(wire->body));
      const std::vector<std::string> texts = TextsOf(*wire);
      ASSERT_GE(texts.size(), before.size());
      for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(texts[i], before[i]);
      before = texts;
      const std::string id = "t" + std::to_string(step);
      request.entries.emplace_back(Calling(id));
      request.entries.emplace_back(ResultOf(id));
      if (step % 2 == 1) request.entries.emplace_back(Said("more"));
    }
  }
}

TEST(WirePartsTest, NothingIsMarkedWhenNothingShallBeCached) {
  Request request = Asking();
  request.cache = false;
  const Result<WireRequest> wire = EncodeRequest(ModelOf(Dialect::kAnthropicMessages), request);
  ASSERT_TRUE(wire);
  for (const WirePart& part : wire->parts) EXPECT_FALSE(part.mark);
}

}  // namespace
}  // namespace stet::provider
