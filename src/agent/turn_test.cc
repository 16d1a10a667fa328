#include "agent/turn.h"

#include <deque>

#include <gtest/gtest.h>

#include "agent/asks.h"
#include "agent/session_tools.h"
#include "agent/settings.h"
#include "log/log_fixture.h"
#include "provider/provider.h"
#include "tool/tool.h"

namespace stet::agent {
namespace {

/// Gives one reply after the other, whatever it is asked.
class ScriptedModel final : public provider::Provider {
 public:
  ScriptedModel() {
    facts.provider = "p";
    facts.id = "m";
    facts.dialect = provider::Dialect::kOpenAiCompletions;
    facts.context_window = 200'000;
  }

  [[nodiscard]] const provider::Model& model() const override { return facts; }
  [[nodiscard]] Result<provider::WireRequest> Encode(const provider::Request&) const override {
    return provider::WireRequest{.url = "", .headers = {}, .body = "{}"};
  }
  Async<provider::CallResult> Stream(const provider::Request&, const provider::WireRequest&,
                                     provider::Sink&, CancelToken) override {
    ++asked;
    if (when_asked) when_asked();
    provider::CallResult result;
    result.model = facts;
    if (!replies.empty()) {
      result.reply.content = replies.front();
      replies.pop_front();
    }
    co_return result;
  }
  Async<Result<std::int64_t>> CountTokens(const provider::Request&, CancelToken) override {
    co_return Fail(Code::kUnsupported, "it does not count");
  }

  provider::Model facts;
  std::deque<protocol::AssistantContent> replies;
  std::function<void()> when_asked;
  int asked = 0;
};

/// Has an effect that can be counted.
class CountingTool final : public tool::Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Count"; }
  [[nodiscard]] std::string_view description() const override { return "counts"; }
  [[nodiscard]] std::string_view schema() const override { return R"({"type":"object"})"; }
  [[nodiscard]] Result<tool::Intent> Intend(const Raw&, const tool::Workspace&) const override {
    tool::Intent intent;
    intent.effects = true;
    return intent;
  }
  Async<tool::Outcome> Run(const Raw&, tool::Call&) override {
    co_return tool::Say("run " + std::to_string(++runs));
  }

  int runs = 0;
};

class TurnTest : public log::LogTest {
 protected:
  TurnTest() : log_(Create()), asks_(loop_, *log_) {
    auto counting = std::make_unique<CountingTool>();
    tool_ = counting.get();
    tool::ToolSource source;
    source.tools.push_back(std::move(counting));
    EXPECT_TRUE(tools_.box().Add(std::move(source)));
    tools_.Open(*log_, std::nullopt, 0);
    Use({});
    EXPECT_TRUE(log_->Append(Batch(log::User("do it"))));
  }

  void Use(const Limits& limits) {
    bench_ = std::make_unique<Workbench>(Workbench{
        .loop = loop_,
        .log = *log_,
        .model = &model_,
        .tools = tools_,
        .workspace = workspace_,
        .asks = asks_,
        .settings = CurrentSettings({.rules = {.mode = policy::Mode::kBypass}, .limits = limits})});
  }
  static std::vector<log::Draft> Batch(log::Draft draft) {
    std::vector<log::Draft> batch;
    batch.push_back(std::move(draft));
    return batch;
  }
  void Says(const std::string& text, std::string stop = "end") {
    protocol::AssistantContent& reply = model_.replies.emplace_back();
    reply.blocks.push_back(protocol::TextBlock{.text = text});
    reply.stop_reason = std::move(stop);
  }
  void Calls(const std::string& id) {
    protocol::AssistantContent& reply = model_.replies.emplace_back();
    reply.blocks.push_back(
        protocol::ToolCallBlock{.tool_call_id = id, .tool_name = "Count", .args = Raw{"{}"}});
    reply.stop_reason = "tool_use";
  }
  TurnOutcome Run() {
    Turn turn(*bench_, cancel_.token());
    const Result<TurnOutcome> end = loop_.RunUntilDone(turn.Run());
    EXPECT_TRUE(end) << end.error().Text();
    return end.value_or(TurnOutcome());
  }
  /// What the turn wrote, in order: types, of messages their roles, with the phase where there is
  /// one.
  std::vector<std::string> Written() {
    std::vector<std::string> written;
    for (log::Ordinal at = 0; at < log_->index().entries().size(); ++at) {
      const protocol::Event event = *log_->EventAt(at);
      std::string name(protocol::TypeName(event.payload));
      if (const auto role = protocol::RoleName(event.payload)) name = *role;
      if (const auto* turn = std::get_if<protocol::Turn>(&event.payload)) name += " " + turn->phase;
      if (const auto* call = std::get_if<protocol::ModelCall>(&event.payload))
        name += " " + call->phase;
      written.push_back(std::move(name));
    }
    written.erase(written.begin());  // opened
    return written;
  }

  Loop loop_;
  ScriptedModel model_;
  SessionTools tools_;
  tool::Workspace workspace_;
  std::unique_ptr<log::Log> log_;
  Asks asks_;
  CountingTool* tool_ = nullptr;
  CancelSource cancel_;
  std::unique_ptr<Workbench> bench_;
};

TEST_F(TurnTest, WhatHappensIsWrittenBeforeItCounts) {
  Calls("tc_1");
  Says("Done.");
  const TurnOutcome end = Run();
  EXPECT_EQ(end.reason, ended::kCompleted);
  EXPECT_EQ(end.text, "Done.");
  EXPECT_EQ(end.steps, 2);
  EXPECT_EQ(tool_->runs, 1);
  EXPECT_EQ(Written(), (std::vector<std::string>{"user", "turn start", "model_call start",
                                                 "model_call end", "assistant", "tool_started",
                                                 "tool_result", "model_call start",
                                                 "model_call end", "assistant", "turn end"}));
}

TEST_F(TurnTest, AReplyThatBrokeOffIsContinuedThreeTimesInARow) {
  for (int i = 0; i < 10; ++i) Says("more and", std::string(provider::stop::kMaxTokens));
  const TurnOutcome end = Run();
  EXPECT_EQ(end.steps, 4);
  EXPECT_EQ(end.reason, ended::kCompleted);
}

TEST_F(TurnTest, ALimitOfStepsEndsItBehindTheResultsOfTheLastOne) {
  Use({.max_steps = 1});
  Calls("tc_1");
  Calls("tc_2");
  const TurnOutcome end = Run();
  EXPECT_EQ(end.reason, ended::kMaxTurns);
  EXPECT_EQ(model_.asked, 1);
  EXPECT_EQ(tool_->runs, 1);
  EXPECT_TRUE(log_->open_calls().empty());
  const std::vector<std::string> written = Written();
  EXPECT_EQ(written[written.size() - 2], "stop");
  EXPECT_EQ(written.back(), "turn end");
}

TEST_F(TurnTest, ACancelLeavesNoCallWithoutItsResultAndRunsNothingMore) {
  Calls("tc_1");
  model_.when_asked = [&] { cancel_.Cancel(); };
  const TurnOutcome end = Run();
  EXPECT_EQ(end.reason, ended::kCancelled);
  EXPECT_EQ(tool_->runs, 0);
  EXPECT_EQ(model_.asked, 1);
  EXPECT_TRUE(log_->open_calls().empty());
}

TEST_F(TurnTest, AReplyWithNothingInItIsNotStored) {
  model_.replies.emplace_back();
  EXPECT_EQ(Run().steps, 1);
  EXPECT_EQ(Written(), (std::vector<std::string>{"user", "turn start", "model_call start",
                                                 "model_call end", "turn end"}));
}

}  // namespace
}  // namespace stet::agent
