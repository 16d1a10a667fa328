// Retries, the fallback and cancelling, over a real socket.
#include <thread>

#include "tests/model/model_fixture.h"

namespace stet::test {
namespace {

class RetryingTest : public ModelTest, public testing::WithParamInterface<Dialect> {};

TEST_P(RetryingTest, AnOverloadedModelIsReplacedByTheFallbackAndThatIsSaid) {
  StartEmulator(R"({"replies":[
    {"times":0,"when":{"model":"m"},"fault":{"kind":"overload"}},
    {"times":0,"when":{"model":"small"},"blocks":[{"text":"from the small one"}],
     "usage":{"input":5,"output":6}}]})");
  provider::Model small = ModelFor(GetParam());
  small.id = "small";
  provider::HttpProvider provider =
      ProviderFor(ModelFor(GetParam()), provider::Access{.model = small, .key = ""});
  const provider::CallResult call = Ask(provider, Asking("go"), sink_);
  EXPECT_EQ(TextOf(call), "from the small one");
  EXPECT_EQ(call.model.id, "small");
  ASSERT_EQ(call.attempts.size(), 3U);
  EXPECT_EQ(call.attempts[1].outcome, "overloaded");
  EXPECT_EQ(call.attempts[1].model, std::nullopt);
  EXPECT_EQ(call.attempts[2].model, "test/small");
  ASSERT_EQ(sink_.Count<provider::Switched>(), 1U);
}

TEST_P(RetryingTest, WhatTheServerAsksForIsWaitedAndTold) {
  StartEmulator(R"({"replies":[
    {"fault":{"kind":"status","status":429,"headers":{"retry-after-ms":"20"}}},
    {"blocks":[{"text":"ok"}]}]})");
  const auto start = SystemClock().Steady();
  const provider::CallResult call = AskOnce(GetParam());
  EXPECT_EQ(TextOf(call), "ok");
  EXPECT_GE(SystemClock().Steady() - start, std::chrono::milliseconds(20));
  for (const provider::StreamEvent& event : sink_.events) {
    if (const auto* wait = std::get_if<provider::Waiting>(&event)) {
      EXPECT_TRUE(wait->why.starts_with("rate_limited: ")) << wait->why;
      EXPECT_EQ(wait->attempt, 1);
    }
  }
}

TEST_P(RetryingTest, TheKeyIsSentAndNeverSaid) {
  StartEmulator(R"({"replies":[
    {"fault":{"kind":"status","status":401,"message":"wrong key sk-secret, I say: sk-secret"}}]})");
  const provider::CallResult call = AskOnce(GetParam());
  EXPECT_EQ(call.reply.failure->message, "wrong key [key], I say: [key]");
  EXPECT_EQ(sink_.Text().find("sk-secret"), std::string::npos);
  const auto requests = emulator_->Requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_NE(Encode(requests[0]).find("present"), std::string::npos);
}

TEST_P(RetryingTest, AKeyThatIsPartOfItsReplacementEnds) {
  for (const char* key : {"key", "k", "[key]", "e"}) {
    StartEmulator(R"({"replies":[
      {"fault":{"kind":"status","status":401,"message":"the key [key] is no key"}}]})");
    const provider::Surroundings surroundings{
        .http = http_, .clock = SystemClock(), .random = random_};
    provider::HttpProvider provider(loop_, surroundings,
                                    {.model = ModelFor(GetParam()), .key = key}, {}, {});
    const provider::CallResult call = Ask(provider, Asking("go"), sink_);
    EXPECT_TRUE(call.reply.failure->message.contains("[key]")) << call.reply.failure->message;
  }
}

TEST_P(RetryingTest, NobodyListeningIsANetworkFailureAfterAllTries) {
  StartEmulator(R"({"replies":[]})");
  provider::Model model = ModelFor(GetParam());
  emulator_.reset();
  provider::HttpProvider provider = ProviderFor(std::move(model));
  const provider::CallResult call = Ask(provider, Asking("go"), sink_);
  EXPECT_EQ(KindOf(call), "network");
  EXPECT_EQ(call.attempts.size(), 3U);
}

TEST_P(RetryingTest, CancellingInAnyStateEndsTheCallAndKeepsWhatWasSeen) {
  struct State {
    const char* script;
    bool has_text;
  };
  for (
      const State& state : {
          State{R"({"replies":[{"fault":{"kind":"half_open"}}]})", false},
          State{R"({"replies":[{"fault":{"kind":"stall"}}]})", false},
          State{
              R"({"replies":[{"delta":4,"blocks":[{"text":"one two three four five six seven eight"}],"fault":{"kind":"stall","afterEvents":8}}]})",
              true},
          State{
              R"({"replies":[{"times":0,"fault":{"kind":"status","status":429,"headers":{"retry-after":"60"}}}]})",
              false},
      }) {
    StartEmulator(state.script);
    provider::Model model = ModelFor(GetParam());
    model.clocks = {};  // As long as they are for users.
    const provider::Surroundings surroundings{
        .http = http_, .clock = SystemClock(), .random = random_};
    provider::HttpProvider provider(loop_, surroundings, {.model = model, .key = ""}, {}, {});
    CancelSource source;
    KeepingSink sink;
    std::atomic<bool> seen = false;
    sink.hook = [&](const provider::StreamEvent& event) {
      seen = seen || std::holds_alternative<provider::TextDelta>(event) ||
             std::holds_alternative<provider::Waiting>(event);
    };
    std::thread canceller([&] {
      // Until the state is reached: the emulator has the request, and what it shows was shown.
      while (emulator_->stats().requests == 0) std::this_thread::yield();
      const bool shows = state.has_text || std::string_view(state.script).contains("429");
      while (shows && !seen) std::this_thread::yield();
      source.Cancel();
    });
    const provider::CallResult call = Ask(provider, Asking("go"), sink, source.token());
    canceller.join();
    EXPECT_EQ(KindOf(call), "cancelled") << state.script;
    EXPECT_EQ(!TextOf(call).empty(), state.has_text) << state.script;
    EXPECT_TRUE(call.reply.partial);
  }
}

TEST_P(RetryingTest, AStreamThatStandsStillHoldsUpNoOther) {
  StartEmulator(R"({"replies":[
    {"times":0,"when":{"lastUser":"stall"},"blocks":[{"text":"some text"}],
     "fault":{"kind":"stall","afterEvents":1}},
    {"times":0,"blocks":[{"text":"ok"}]}]})");
  provider::Model model = ModelFor(GetParam());
  model.clocks = {};
  provider::HttpProvider provider = ProviderFor(model);
  const provider::Request stalled = Asking("stall");
  const provider::WireRequest wire = *provider.Encode(stalled);
  CancelSource source;
  KeepingSink stalled_sink;
  const Pending<bool> ended(loop_);
  auto stall = [](provider::Provider& model_provider, const provider::Request& request,
                  const provider::WireRequest& bytes, provider::Sink& sink, CancelToken cancel,
                  Pending<bool> done) -> Async<void> {
    co_await model_provider.Stream(request, bytes, sink, cancel);
    done.Set(true);
  };
  loop_.Spawn(stall(provider, stalled, wire, stalled_sink, source.token(), ended));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(TextOf(Ask(provider, Asking("go"), sink_)), "ok");
  EXPECT_FALSE(ended.is_set());
  source.Cancel();
  auto wait = [](Pending<bool> done) -> Async<bool> { co_return co_await done; };
  EXPECT_TRUE(loop_.RunUntilDone(wait(ended)));
}

INSTANTIATE_TEST_SUITE_P(Dialects, RetryingTest, testing::ValuesIn(kDialects),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace stet::test
