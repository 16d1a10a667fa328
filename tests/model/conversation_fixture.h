// ConversationTest: a question with an image, an answer with all kinds of blocks and two calls, and
// the calls' results, in the dialect that is tested.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/model/model_fixture.h"

namespace stet::test {

inline constexpr std::string_view kThought = "Let me see: what is ünï 👍?";
inline constexpr std::string_view kSignature = "c2lnbmVkLWJ5LXRoZS1tb2RlbA==";
inline constexpr std::string_view kHidden = "aGlkZGVuLXRob3VnaHRz";
inline constexpr std::string_view kSaid = "I look at both.";
inline constexpr std::string_view kAnswer = "Both are there.";

class ConversationTest : public ModelTest, public testing::WithParamInterface<Dialect> {
 protected:
  [[nodiscard]] static bool IsChat() { return GetParam() == Dialect::kOpenAiCompletions; }
  /// Reasoning that is hidden exists in these only.
  [[nodiscard]] static bool HasHidden() {
    return GetParam() == Dialect::kAnthropicMessages || GetParam() == Dialect::kOpenAiResponses;
  }

  /// The dialect's model; its clocks are those of users, who are slower than tests.
  [[nodiscard]] provider::Model Talker(const std::string& id = "m") const {
    provider::Model model = ModelFor(GetParam());
    model.id = id;
    model.clocks = {};
    // Chat completions have no signatures of their own, but servers that add some.
    model.quirks.echo_reasoning_details = IsChat();
    return model;
  }

  /// The first reply has everything, the one after the results ends the conversation.
  [[nodiscard]] static std::string Script(std::size_t delta = 16, std::size_t write = 0) {
    const std::string pieces = fmt::format(R"("delta":{}{})", delta,
                                           write > 0 ? fmt::format(R"(,"write":{})", write) : "");
    const std::string quirks = IsChat() ? R"(,"quirks":["reasoning_details"])" : "";
    const std::string hidden = HasHidden() ? fmt::format(R"({{"redacted":"{}"}},)", kHidden) : "";
    return fmt::format(
        R"({{"replies":[
          {{"when":{{"hasToolResult":false}},"times":0,{0}{1},"blocks":[
            {{"thinking":"{2}","signature":"{3}"}},{4}{{"text":"{5}"}},
            {{"call":{{"name":"read","args":{{"path":"ä \"b\""}}}}}},
            {{"call":{{"name":"list","args":{{}}}}}}],
           "usage":{{"input":10,"output":20,"cacheRead":30,"cacheWrite":40,"reasoning":5}}}},
          {{"times":0,{0},"blocks":[{{"text":"{6}"}}],"usage":{{"input":90,"output":3}}}}]}})",
        pieces, quirks, kThought, kSignature, hidden, kSaid, kAnswer);
  }

  static provider::Request Question() {
    provider::Request request;
    request.system = {"Be brief.", "Today is Monday."};
    request.tools = {{.name = "read", .description = "Reads."},
                     {.name = "list", .description = "Lists."}};
    request.effort = "high";
    request.cache_key = "ses_1";
    request.read_blob = [](const std::string& blob) -> Result<std::string> { return blob; };
    provider::UserInput input;
    protocol::TextBlock text;
    text.text = "What is in this picture and in the files?";
    input.blocks.emplace_back(std::move(text));
    input.blocks.emplace_back(Image("picture"));
    request.entries.emplace_back(std::move(input));
    return request;
  }

  static protocol::ImageBlock Image(const std::string& bytes) {
    protocol::ImageBlock image;
    image.media_type = "image/png";
    image.blob = bytes;
    return image;
  }

  /// The question, what the model made of it, and results of all its calls.
  static provider::Request WithResults(const provider::CallResult& call) {
    provider::Request request = Question();
    provider::AssistantTurn turn;
    turn.blocks = call.reply.content.blocks;
    turn.model = call.model.FullName();
    request.entries.emplace_back(turn);
    for (const protocol::Block& block : turn.blocks) {
      const auto* asked = std::get_if<protocol::ToolCallBlock>(&block);
      if (asked == nullptr) continue;
      provider::ToolResult result;
      result.tool_call_id = asked->tool_call_id;
      protocol::TextBlock text;
      text.text = "result of " + asked->tool_name;
      result.content.emplace_back(std::move(text));
      result.content.emplace_back(Image("of " + asked->tool_name));
      request.entries.emplace_back(std::move(result));
    }
    return request;
  }

  /// Asks with ids that are the same every time.
  provider::CallResult AskAs(const provider::Model& model, const provider::Request& request) {
    random_ = Random(1);
    provider::HttpProvider provider = ProviderFor(model);
    sink_.events.clear();
    provider::CallResult call = Ask(provider, request, sink_);
    EXPECT_EQ(KindOf(call), "done")
        << (call.reply.failure ? call.reply.failure->message : std::string());
    return call;
  }
};

}  // namespace stet::test
