#include "agent/model_call.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/loop.h"
#include "json/view.h"
#include "log/log_fixture.h"
#include "provider/provider.h"

namespace stet::agent {
namespace {

using protocol::ModelCall;

class NoSink final : public provider::Sink {
 public:
  void On(const provider::StreamEvent&) override {}
};

/// Answers as it is told, and looks around when it is asked.
class Double final : public provider::Provider {
 public:
  Double() {
    facts.provider = "p";
    facts.id = "m";
    facts.dialect = provider::Dialect::kOpenAiCompletions;
    facts.prices = provider::Prices{.input = 1'000'000, .output = 2'000'000};
    answer.model = facts;
  }

  [[nodiscard]] const provider::Model& model() const override { return facts; }
  [[nodiscard]] Result<provider::WireRequest> Encode(const provider::Request&) const override {
    if (unencodable) return Fail(Code::kNotFound, "no such blob");
    provider::WireRequest wire{.url = "", .headers = {}, .body = body};
    wire.parts = {{.kind = provider::PartKind::kSystem, .begin = 0, .end = 4},
                  {.begin = 4, .end = body.size()}};
    return wire;
  }
  Async<provider::CallResult> Stream(const provider::Request&, const provider::WireRequest&,
                                     provider::Sink&, CancelToken cancel) override {
    cancelled = cancel.cancelled();
    if (when_asked) when_asked();
    co_return answer;
  }
  Async<Result<std::int64_t>> CountTokens(const provider::Request&, CancelToken) override {
    co_return Fail(Code::kUnsupported, "nobody counts");
  }

  provider::Model facts;
  provider::CallResult answer;
  std::function<void()> when_asked;
  std::string body = "{\"body\":1}";
  bool unencodable = false;
  bool cancelled = false;
};

protocol::Attempt AttemptOf(std::string outcome, std::int64_t input, std::int64_t output) {
  protocol::Attempt attempt;
  attempt.outcome = std::move(outcome);
  attempt.usage.emplace();
  attempt.usage->input = input;
  attempt.usage->output = output;
  return attempt;
}

class ModelCallTest : public log::LogTest {
 protected:
  ModelCallTest() : log_(Create()) {
    purpose_.purpose = "turn";
    purpose_.stamp.turn_id = "turn_1";
    purpose_.stamp.step_id = "step_1";
    purpose_.stamp.agent_id = "agent_1";
  }

  Result<provider::CallResult> Ask(const CancelToken& cancel = {}) {
    Loop loop;
    return loop.RunUntilDone(AskModel(*log_, model_, request_, purpose_, sink_, cancel));
  }

  /// The model calls in the file, as another process would read them.
  std::vector<protocol::Event> Calls() {
    const std::unique_ptr<log::Log> reader = Open(log::Mode::kRead, false);
    std::vector<protocol::Event> calls;
    EXPECT_TRUE(reader->Read(0, [&](const log::Entry&, std::string_view line) {
      if (Result<protocol::Event> event = protocol::DecodeEvent(line);
          event && std::holds_alternative<ModelCall>(event->payload))
        calls.push_back(*std::move(event));
      return true;
    }));
    return calls;
  }
  static const ModelCall& CallOf(const protocol::Event& event) {
    return std::get<ModelCall>(event.payload);
  }

  std::unique_ptr<log::Log> log_;
  Double model_;
  provider::Request request_;
  CallPurpose purpose_;
  NoSink sink_;
};

TEST_F(ModelCallTest, TheStartIsInTheLogBeforeTheRequestIsSent) {
  std::vector<protocol::Event> seen;
  model_.when_asked = [&] { seen = Calls(); };
  request_.effort = "high";
  request_.max_tokens = 100;
  request_.output = provider::OutputSchema{.name = "o", .schema = Raw{R"({"type":"object"})"}};
  ASSERT_TRUE(Ask());
  ASSERT_EQ(seen.size(), 1U);
  const ModelCall& start = CallOf(seen[0]);
  EXPECT_NE(start.call_id, "");
  EXPECT_EQ(start.phase, "start");
  EXPECT_EQ(start.purpose, "turn");
  EXPECT_EQ(start.dialect, "openai-completions");
  EXPECT_EQ(start.model, "p/m");
  EXPECT_EQ(start.request_hash, FastHashHex("{\"body\":1}"));
  EXPECT_EQ(start.bytes, 10);
  EXPECT_EQ(start.prefix, std::nullopt) << "nobody keeps the books";
  EXPECT_EQ(start.toolset, std::nullopt);
  ASSERT_TRUE(start.params);
  EXPECT_EQ(start.params->text, R"({"effort":"high","maxTokens":100,"output":{"type":"object"}})");
  EXPECT_EQ(start.attempts, std::nullopt);
}

TEST_F(ModelCallTest, TheEndHasTheAttemptsAndThePrice) {
  model_.answer.attempts = {AttemptOf("overloaded", 10, 1), AttemptOf("done", 1000, 50)};
  const Result<provider::CallResult> result = Ask();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->attempts, model_.answer.attempts);
  const std::vector<protocol::Event> calls = Calls();
  ASSERT_EQ(calls.size(), 2U);
  const ModelCall& end = CallOf(calls[1]);
  EXPECT_EQ(end.phase, "end");
  EXPECT_EQ(end.call_id, CallOf(calls[0]).call_id);
  EXPECT_EQ(end.attempts, model_.answer.attempts);
  EXPECT_EQ(end.price, 1010 + (2 * 51));
}

TEST_F(ModelCallTest, AFallbackIsPaidByItsOwnPrices) {
  model_.answer.attempts = {AttemptOf("overloaded", 10, 0), AttemptOf("done", 1000, 0)};
  model_.answer.attempts[1].model = "p/small";
  model_.answer.model.id = "small";
  model_.answer.model.prices = provider::Prices{.input = 100'000};
  ASSERT_TRUE(Ask());
  EXPECT_EQ(CallOf(Calls().at(1)).price, 10 + 100);
}

TEST_F(ModelCallTest, AnUnknownPriceIsNotFree) {
  model_.facts.prices.reset();
  model_.answer.model = model_.facts;
  model_.answer.attempts = {AttemptOf("done", 1000, 50)};
  ASSERT_TRUE(Ask());
  EXPECT_EQ(CallOf(Calls().at(1)).price, std::nullopt);
}

TEST_F(ModelCallTest, ACallThatFailedHasItsEndToo) {
  provider::Failure failure{.kind = provider::FailureKind::kAuth, .message = "no"};
  model_.answer.reply.failure = std::move(failure);
  protocol::Attempt attempt;
  attempt.outcome = "auth";
  model_.answer.attempts = {attempt};
  const Result<provider::CallResult> result = Ask();
  ASSERT_TRUE(result) << "what the server did wrong is in the result";
  EXPECT_EQ(result->reply.failure->kind, provider::FailureKind::kAuth);
  const ModelCall end = CallOf(Calls().at(1));
  EXPECT_EQ(end.phase, "end");
  EXPECT_EQ(end.attempts, model_.answer.attempts);
  EXPECT_EQ(end.price, 0) << "nothing was used";
}

TEST_F(ModelCallTest, BothAreStampedWithTheTurnTheStepAndTheAgent) {
  ASSERT_TRUE(Ask());
  const std::vector<protocol::Event> calls = Calls();
  ASSERT_EQ(calls.size(), 2U);
  for (const protocol::Event& event : calls) {
    EXPECT_EQ(event.stamp.turn_id, "turn_1");
    EXPECT_EQ(event.stamp.step_id, "step_1");
    EXPECT_EQ(event.stamp.agent_id, "agent_1");
  }
}

TEST_F(ModelCallTest, TheToolsetIsNamedWhereTheRequestHasTools) {
  purpose_.toolset = "the blob";
  ASSERT_TRUE(Ask());
  request_.tools = {{.name = "write", .description = "W"}, {.name = "read", .description = "R"}};
  ASSERT_TRUE(Ask());
  const std::vector<protocol::Event> calls = Calls();
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(CallOf(calls[0]).toolset, std::nullopt);
  EXPECT_EQ(CallOf(calls[2]).toolset, "the blob");
  EXPECT_NE(CallOf(calls[0]).call_id, CallOf(calls[2]).call_id);
}

TEST_F(ModelCallTest, ThePrefixIsAccountedFor) {
  context::Account account;
  purpose_.account = &account;
  // A fallback's tokens say nothing about the model's own cache.
  model_.answer.attempts = {AttemptOf("done", 2000, 1), AttemptOf("done", 7000, 1)};
  model_.answer.attempts[1].model = "p/small";
  ASSERT_TRUE(Ask());
  ASSERT_TRUE(Ask());
  model_.body = R"({"bodx":1})";
  ASSERT_TRUE(Ask());
  model_.answer.attempts.clear();
  ASSERT_TRUE(Ask());
  const std::vector<protocol::Event> calls = Calls();
  ASSERT_EQ(calls.size(), 8U);
  const auto prefix_at = [&](std::size_t i) {
    return CallOf(calls[i]).prefix.value_or(protocol::Prefix());
  };
  EXPECT_EQ(prefix_at(0).cached, 0);
  EXPECT_EQ(prefix_at(0).cause, std::nullopt);
  EXPECT_EQ(prefix_at(2).equal_bytes, 10);
  EXPECT_EQ(prefix_at(2).cached, 2000 / 128 * 128);
  EXPECT_EQ(prefix_at(4).equal_bytes, 4);
  EXPECT_EQ(prefix_at(4).cause, "unexplained");
  EXPECT_EQ(prefix_at(6).equal_bytes, 10);
}

TEST_F(ModelCallTest, WhatCannotBeEncodedIsNotAskedAndLeavesNoTrace) {
  model_.unencodable = true;
  bool asked = false;
  model_.when_asked = [&] { asked = true; };
  const Result<provider::CallResult> result = Ask();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_FALSE(asked);
  EXPECT_TRUE(Calls().empty());
}

TEST_F(ModelCallTest, ALogThatCannotBeWrittenKeepsTheRequestFromBeingSent) {
  ASSERT_TRUE(log_->Close());
  bool asked = false;
  model_.when_asked = [&] { asked = true; };
  EXPECT_FALSE(Ask());
  EXPECT_FALSE(asked);
}

TEST_F(ModelCallTest, TheProviderHearsOfCancelling) {
  CancelSource source;
  source.Cancel();
  ASSERT_TRUE(Ask(source.token()));
  EXPECT_TRUE(model_.cancelled);
}

}  // namespace
}  // namespace stet::agent
