#include "agent/turn.h"

#include <gtest/gtest.h>

#include "agent/scripted_model_fixture.h"
#include "agent/workbench_fixture.h"

namespace stet::agent {
namespace {

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

class TurnTest : public WorkbenchTest {
 protected:
  TurnTest() {
    auto counting = std::make_unique<CountingTool>();
    tool_ = counting.get();
    AddTool(std::move(counting));
    OpenTools();
    bench_->model = &model_;
    Append(log::User("do it"));
  }

  void Use(const Limits& limits) {
    bench_->settings =
        CurrentSettings({.rules = {.mode = policy::Mode::kBypass}, .limits = limits});
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
    for (const protocol::Event& event : Events()) {
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

  ScriptedModel model_;
  CountingTool* tool_ = nullptr;
  CancelSource cancel_;
};

TEST_F(TurnTest, WhatHappensIsWrittenBeforeItCounts) {
  Calls("tc_1");
  model_.Says("Done.");
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
  for (int i = 0; i < 10; ++i) model_.Says("more and", std::string(provider::stop::kMaxTokens));
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
