// Counting tokens by asking the server.
#include "tests/model/conversation_fixture.h"

namespace stet::test {
namespace {

class CountTokensTest : public ConversationTest {
 protected:
  Result<std::int64_t> Count(const provider::Request& request, const CancelToken& cancel = {}) {
    provider::HttpProvider provider = ProviderFor(Talker());
    return loop_.RunUntilDone(provider.CountTokens(request, cancel));
  }
};

TEST_P(CountTokensTest, TheServersCountIsWhatItReports) {
  StartEmulator(R"({"cache":{},"replies":[{"times":0,"blocks":[{"text":"ok"}]}]})");
  const Result<std::int64_t> counted = Count(Question());
  ASSERT_TRUE(counted) << counted.error().Text();
  const provider::CallResult call = AskAs(Talker(), Question());
  ASSERT_TRUE(call.reply.content.usage);
  const protocol::Usage& usage = *call.reply.content.usage;
  EXPECT_EQ(*counted, usage.input + usage.cache_read.value_or(0) + usage.cache_write.value_or(0));
  EXPECT_EQ(emulator_->Requests().size(), 1U) << "a count is no model request";
}

TEST_P(CountTokensTest, AServerThatIsNotThereIsUnavailable) {
  StartEmulator(R"({"replies":[]})");
  provider::HttpProvider provider = ProviderFor(Talker());
  emulator_.reset();
  const provider::Request question = Question();
  const Result<std::int64_t> counted = loop_.RunUntilDone(provider.CountTokens(question, {}));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, Code::kUnavailable);
}

TEST_P(CountTokensTest, WhatWentWrongIsSaidAndTheKeyIsNot) {
  StartEmulator(R"({"replies":[]})");
  provider::Model model = Talker();
  model.base_url = emulator_->base_url() + "/sk-secret?";
  provider::HttpProvider provider = ProviderFor(std::move(model));
  const provider::Request question = Question();
  const Result<std::int64_t> counted = loop_.RunUntilDone(provider.CountTokens(question, {}));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().message, "the emulator has nothing at POST /[key]");
}

TEST_P(CountTokensTest, ItCanBeCancelled) {
  StartEmulator(R"({"replies":[]})");
  CancelSource source;
  source.Cancel();
  const Result<std::int64_t> cancelled = Count(Question(), source.token());
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled);
}

using NobodyCountsTest = ModelTest;

TEST_F(NobodyCountsTest, ChatCompletionsHaveNoCount) {
  StartEmulator(R"({"replies":[]})");
  provider::HttpProvider provider = ProviderFor(ModelFor(Dialect::kOpenAiCompletions));
  const provider::Request question = Asking("go");
  const Result<std::int64_t> counted = loop_.RunUntilDone(provider.CountTokens(question, {}));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, Code::kUnsupported);
}

INSTANTIATE_TEST_SUITE_P(Dialects, CountTokensTest,
                         testing::Values(Dialect::kAnthropicMessages, Dialect::kOpenAiResponses,
                                         Dialect::kGoogleGenerativeAi),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace stet::test
