// A conversation of two steps in every dialect, over real sockets: what is heard does not depend on
// how it is cut, and what a model signed goes back to that model as it came.
#include <map>

#include "base/base64.h"
#include "tests/model/conversation_fixture.h"

namespace stet::test {
namespace {

std::size_t Occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The stream without its deltas: their texts, joined, stand before the end of their block. What
/// chat completions have for a signature is the wire's pieces of reasoning themselves: left out.
std::string Joined(const std::vector<provider::StreamEvent>& events) {
  std::map<std::int64_t, std::string> texts;
  std::string out;
  std::string last;
  for (const provider::StreamEvent& event : events) {
    if (const auto* text = std::get_if<provider::TextDelta>(&event)) {
      texts[text->index] += text->text;
    } else if (const auto* thought = std::get_if<provider::ThinkingDelta>(&event)) {
      texts[thought->index] += thought->text;
    } else if (const auto* args = std::get_if<provider::ToolCallDelta>(&event)) {
      texts[args->index] += args->text;
    } else {
      provider::StreamEvent copy = event;
      if (auto* end = std::get_if<provider::BlockEnd>(&copy)) {
        out += std::exchange(texts[end->index], "") + "\n";
        auto* thinking = std::get_if<protocol::ThinkingBlock>(&end->block);
        if (thinking != nullptr && thinking->dialect == "openai-completions")
          thinking->signature.reset();
      }
      std::string line = Encode(copy) + "\n";
      if (line != last) out += line;  // Usage may be repeated with every event of the wire.
      last = std::move(line);
    }
  }
  return out;
}

TEST_P(ConversationTest, EverythingInAReplyIsHeard) {
  StartEmulator(Script());
  const provider::CallResult call = AskAs(Talker(), Question());
  std::string kinds;
  std::vector<protocol::ToolCallBlock> calls;
  for (const protocol::Block& block : call.reply.content.blocks) {
    kinds += Encode(block).substr(0, Encode(block).find(',')) + "\n";
    if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block)) {
      EXPECT_EQ(thinking->text, kThought);
    }
    if (const auto* asked = std::get_if<protocol::ToolCallBlock>(&block)) calls.push_back(*asked);
  }
  EXPECT_EQ(Occurrences(kinds, "redacted_thinking"), HasHidden() ? 1U : 0U) << kinds;
  EXPECT_EQ(Occurrences(kinds, "\"thinking\""), 1U) << kinds;
  EXPECT_EQ(TextOf(call), kSaid);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_NE(calls[0].tool_call_id, calls[1].tool_call_id);
  EXPECT_EQ(calls[0].tool_name, "read");
  EXPECT_EQ(calls[0].args.text, R"({"path":"ä \"b\""})");
  EXPECT_EQ(calls[1].tool_name, "list");
  EXPECT_EQ(calls[1].args.text, "{}");
  EXPECT_EQ(call.reply.content.stop_reason, "tool_use");
}

TEST_P(ConversationTest, EveryTokenIsCountedOnce) {
  StartEmulator(Script());
  const provider::CallResult call = AskAs(Talker(), Question());
  ASSERT_TRUE(call.reply.content.usage);
  const protocol::Usage& usage = *call.reply.content.usage;
  EXPECT_EQ(usage.cache_read, 30);
  EXPECT_EQ(usage.input + usage.cache_read.value_or(0) + usage.cache_write.value_or(0), 80);
  EXPECT_EQ(usage.output, 20);
  EXPECT_TRUE(call.reply.usage_final);
  EXPECT_EQ(call.attempts[0].usage, usage);
}

TEST_P(ConversationTest, ResultsAndImagesGoBackAndTheConversationEnds) {
  StartEmulator(Script());
  const provider::CallResult first = AskAs(Talker(), Question());
  const provider::CallResult second = AskAs(Talker(), WithResults(first));
  EXPECT_EQ(TextOf(second), kAnswer);
  EXPECT_EQ(second.reply.content.stop_reason, "end");
  const auto requests = emulator_->Requests();
  ASSERT_EQ(requests.size(), 2U);
  for (const char* image : {"picture", "of read", "of list"}) {
    std::string base64;
    AppendBase64(base64, image);
    EXPECT_EQ(Occurrences(requests[1].body.text, base64), 1U) << image;
  }
  EXPECT_EQ(Occurrences(requests[1].body.text, "result of read"), 1U);
  EXPECT_EQ(Occurrences(requests[1].body.text, "result of list"), 1U);
}

TEST_P(ConversationTest, WhatWasSignedOrHiddenGoesBackUnchanged) {
  StartEmulator(Script(kThought.size()));
  const provider::CallResult first = AskAs(Talker(), Question());
  AskAs(Talker(), WithResults(first));
  const auto requests = emulator_->Requests();
  ASSERT_EQ(requests.size(), 2U);
  const std::string& body = requests[1].body.text;
  EXPECT_EQ(Occurrences(body, fmt::format("\"{}\"", kSignature)), 1U) << body;
  EXPECT_EQ(Occurrences(body, fmt::format("\"{}\"", kHidden)), HasHidden() ? 1U : 0U) << body;
  // Google's signature stands for the thought; the others sign the thought itself.
  const bool has_thought = GetParam() != Dialect::kGoogleGenerativeAi;
  EXPECT_EQ(Occurrences(body, kThought), has_thought ? 1U : 0U) << body;
}

TEST_P(ConversationTest, NothingOfItGoesToAnotherModel) {
  StartEmulator(Script());
  const provider::CallResult first = AskAs(Talker(), Question());
  const provider::CallResult second = AskAs(Talker("other"), WithResults(first));
  EXPECT_EQ(TextOf(second), kAnswer);
  const auto requests = emulator_->Requests();
  ASSERT_EQ(requests.size(), 2U);
  const std::string& body = requests[1].body.text;
  EXPECT_EQ(Occurrences(body, kSignature), 0U) << body;
  EXPECT_EQ(Occurrences(body, kHidden), 0U) << body;
  EXPECT_EQ(Occurrences(body, kThought), 0U) << body;
  EXPECT_EQ(Occurrences(body, kSaid), 1U) << body;
  EXPECT_EQ(Occurrences(body, "result of read"), 1U) << body;
}

TEST_P(ConversationTest, HowTheBytesAreCutMakesNoDifference) {
  StartEmulator(Script());
  const auto hear = [&](std::size_t delta, std::size_t write) {
    EXPECT_TRUE(emulator_->SetScript(Script(delta, write)));
    const provider::CallResult first = AskAs(Talker(), Question());
    std::vector<provider::StreamEvent> events = sink_.events;
    AskAs(Talker(), WithResults(first));
    events.insert(events.end(), sink_.events.begin(), sink_.events.end());
    return events;
  };
  const auto text = [](const std::vector<provider::StreamEvent>& events) {
    std::string out;
    for (const provider::StreamEvent& event : events) out += Encode(event) + "\n";
    return out;
  };
  const std::string joined = Joined(hear(16, 0));
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const std::size_t delta = 1 + random.Below(round % 2 == 0 ? 64 : 4);
    const std::vector<provider::StreamEvent> whole = hear(delta, 0);
    ASSERT_EQ(Joined(whole), joined) << "delta " << delta;
    for (const std::size_t write : {std::size_t{1}, 1 + random.Below(40), 1 + random.Below(2000)})
      ASSERT_EQ(text(hear(delta, write)), text(whole)) << "delta " << delta << " write " << write;
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, ConversationTest, testing::ValuesIn(kDialects),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace stet::test
