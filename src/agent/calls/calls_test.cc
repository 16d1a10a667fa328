#include "agent/calls/calls.h"

#include <gtest/gtest.h>

#include "agent/workbench_fixture.h"

namespace stet::agent {
namespace {

/// Waits, when it runs, until the test lets it end.
class GatedTool final : public tool::Tool {
 public:
  GatedTool(std::string name, bool reads, Loop& loop, std::vector<std::string>& trace)
      : name_(std::move(name)), reads_(reads), loop_(loop), trace_(trace) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view description() const override { return "waits"; }
  [[nodiscard]] std::string_view schema() const override { return R"({"type":"object"})"; }
  [[nodiscard]] bool reads_only() const override { return reads_; }
  [[nodiscard]] Result<tool::Intent> Intend(const Raw&, const tool::Workspace&) const override {
    tool::Intent intent;
    intent.effects = !reads_;
    return intent;
  }
  Async<tool::Outcome> Run(const Raw&, tool::Call& call) override {
    const std::string id = call.tool_call_id;
    trace_.push_back("start " + id);
    const Pending<bool>& gate = GateOf(id);
    const CancelRegistration cancelled = call.cancel.OnCancel([gate] { gate.Set(false); });
    const bool ended = co_await gate;
    trace_.push_back((ended ? "end " : "stopped ") + id);
    co_return tool::Say(id);
  }

  void Let(const std::string& id) { GateOf(id).Set(true); }

 private:
  const Pending<bool>& GateOf(const std::string& id) {
    return gates_.try_emplace(id, loop_).first->second;
  }

  std::string name_;
  bool reads_;
  Loop& loop_;
  std::vector<std::string>& trace_;
  std::map<std::string, Pending<bool>> gates_;
};

class CallsTest : public WorkbenchTest {
 protected:
  CallsTest() {
    auto read = std::make_unique<GatedTool>("Look", true, loop_, trace_);
    auto write = std::make_unique<GatedTool>("Change", false, loop_, trace_);
    look_ = read.get();
    change_ = write.get();
    AddTool(std::move(read));
    AddTool(std::move(write));
    OpenTools();
    Append(log::User("go"));
  }

  static protocol::ToolCallBlock Call(const std::string& id, const std::string& tool) {
    protocol::ToolCallBlock block;
    block.tool_call_id = id;
    block.tool_name = tool;
    block.args = Raw{"{}"};
    return block;
  }
  static protocol::Blocks Blocks(const std::vector<protocol::ToolCallBlock>& calls) {
    return {calls.begin(), calls.end()};
  }
  void AppendMessage(const protocol::Blocks& blocks) {
    protocol::AssistantMessage message;
    message.message.blocks = blocks;
    ASSERT_TRUE(AppendEvent(*log_, std::move(message), stamp_));
  }

  std::vector<std::string> LogTypes() {
    std::vector<std::string> types;
    for (const protocol::Event& event : Events()) {
      std::string name(protocol::TypeName(event.payload));
      if (const auto role = protocol::RoleName(event.payload)) name = *role;
      if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload))
        name += " " + result->tool_call_id;
      if (const auto* started = std::get_if<protocol::ToolStarted>(&event.payload))
        name += " " + started->tool_call_id;
      types.push_back(name);
    }
    return {types.begin() + 2, types.end()};  // Without opened and the user's message.
  }

  std::vector<std::string> trace_;
  GatedTool* look_ = nullptr;
  GatedTool* change_ = nullptr;
};

using Trace = std::vector<std::string>;

/// A session in which the user is asked.
class CallsAskedTest : public CallsTest {
 protected:
  CallsAskedTest() {
    bench_->settings = CurrentSettings({});
    asks_->set_present(true);
  }

  /// As a client does it.
  void SetMode(policy::Mode mode) {
    bench_->settings.SetMode(mode);
    protocol::SessionInfo info;
    info.changes.mode = std::string(policy::ModeName(mode));
    Append({.payload = std::move(info)});
  }
  void AnswerYes() {
    ASSERT_EQ(asks_->permissions().size(), 1U);
    protocol::PermissionAnswer answer;
    answer.request_id = asks_->permissions()[0].request_id;
    answer.allow = true;
    answer.scope = "session";
    ASSERT_TRUE(asks_->Answer(answer, "tester"));
  }
};

TEST_F(CallsAskedTest, WhatTheUserAllowsRuns) {
  Calls calls(*bench_, stamp_, {});
  const protocol::Blocks blocks = Blocks({Call("w", "Change")});
  AppendMessage(blocks);
  auto whole = [&]() -> Async<void> { (void)co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  Settle();
  EXPECT_EQ(trace_, Trace());
  SetMode(policy::Mode::kAcceptEdits);
  AnswerYes();
  change_->Let("w");
  Settle();
  EXPECT_EQ(trace_, (Trace{"start w", "end w"})) << "another mode, which does not deny it";
  EXPECT_EQ(All<protocol::ToolStarted>()[0].decision.by, "tester");
}

TEST_F(CallsAskedTest, AnAnswerDoesNotCountAgainstTheModeThatHoldsWhenItIsGiven) {
  Calls calls(*bench_, stamp_, {});
  const protocol::Blocks blocks = Blocks({Call("w", "Change")});
  AppendMessage(blocks);
  auto whole = [&]() -> Async<void> { (void)co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  Settle();
  SetMode(policy::Mode::kPlan);
  AnswerYes();
  Settle();
  EXPECT_EQ(trace_, Trace());
  ASSERT_EQ(All<protocol::ToolResult>().size(), 1U);
  EXPECT_TRUE(All<protocol::ToolResult>()[0].content.text.contains(
      "it was allowed, but not any more: nothing is changed while planning (rule: mode:plan)"))
      << All<protocol::ToolResult>()[0].content.text;
  ASSERT_EQ(calls.denials().size(), 1U);
  EXPECT_EQ(calls.denials()[0].rule, "mode:plan");
}

TEST_F(CallsTest, ACallThatWaitedForOthersIsNotRunAgainstTheModeThatHoldsThen) {
  Calls calls(*bench_, stamp_, {});
  const protocol::Blocks blocks = Blocks({Call("r", "Look"), Call("w", "Change")});
  AppendMessage(blocks);
  auto whole = [&]() -> Async<void> { (void)co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  Settle();
  bench_->settings.SetMode(policy::Mode::kPlan);
  look_->Let("r");
  Settle();
  EXPECT_EQ(trace_, (Trace{"start r", "end r"}));
  EXPECT_TRUE(log_->open_calls().empty());
  EXPECT_EQ(calls.denials().size(), 1U);
}

TEST_F(CallsTest, ReadsRunSideBySideAndEffectsAloneInTheirPlace) {
  Calls calls(*bench_, stamp_, {});
  const protocol::Blocks blocks =
      Blocks({Call("r1", "Look"), Call("r2", "Look"), Call("w", "Change"), Call("r3", "Look")});
  AppendMessage(blocks);
  Status ran = Fail(Code::kIo, "not ended");
  auto whole = [&]() -> Async<void> { ran = co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  Settle();
  EXPECT_EQ(trace_, (Trace{"start r1", "start r2"}));
  look_->Let("r2");
  Settle();
  EXPECT_EQ(LogTypes().back(), "tool_result r2") << "a result is appended when it is there";
  look_->Let("r1");
  Settle();
  EXPECT_EQ(trace_.back(), "start w");
  change_->Let("w");
  Settle();
  look_->Let("r3");
  Settle();
  EXPECT_EQ(trace_, (Trace{"start r1", "start r2", "end r2", "end r1", "start w", "end w",
                           "start r3", "end r3"}));
  EXPECT_TRUE(ran) << ran.error().Text();
}

TEST_F(CallsTest, AnEarlyReadLeavesNoTraceBeforeItsMessage) {
  Calls calls(*bench_, stamp_, {});
  const protocol::Blocks blocks = Blocks({Call("r1", "Look"), Call("w", "Change")});
  calls.Begun(0, "Look");
  calls.Complete(0, Call("r1", "Look"));
  Settle();
  EXPECT_EQ(trace_, (Trace{"start r1"}));
  look_->Let("r1");
  Settle();
  EXPECT_EQ(LogTypes(), Trace()) << "its message is not in the log yet";
  AppendMessage(blocks);
  auto whole = [&]() -> Async<void> { (void)co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  change_->Let("w");
  Settle();
  EXPECT_EQ(LogTypes(), (Trace{"assistant", "tool_started r1", "tool_result r1", "tool_started w",
                               "tool_result w"}));
  EXPECT_EQ(std::ranges::count(trace_, "start r1"), 1) << "it is not run again";
}

TEST_F(CallsTest, NothingStartsEarlyBehindACallWithEffectsOrWithoutLeave) {
  Calls calls(*bench_, stamp_, {});
  calls.Begun(0, "Change");
  calls.Begun(1, "Look");
  calls.Complete(1, Call("r1", "Look"));
  calls.Complete(0, Call("w", "Change"));
  Settle();
  EXPECT_EQ(trace_, Trace());
  bench_->settings = CurrentSettings(
      {.rules = {.mode = policy::Mode::kBypass, .deny = {{.tool = "Look", .specifier = ""}}}});
  Calls denied(*bench_, stamp_, {});
  denied.Begun(0, "Look");
  denied.Complete(0, Call("r2", "Look"));
  Settle();
  EXPECT_EQ(trace_, Trace());
}

TEST_F(CallsTest, AReplyThatBeginsAnewForgetsWhatWasStartedForIt) {
  Calls calls(*bench_, stamp_, {});
  calls.Begun(0, "Look");
  calls.Complete(0, Call("r1", "Look"));
  Settle();
  calls.Forget();
  const protocol::Blocks blocks = Blocks({Call("r2", "Look")});
  AppendMessage(blocks);
  auto whole = [&]() -> Async<void> { (void)co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  look_->Let("r2");
  Settle();
  EXPECT_EQ(trace_, (Trace{"start r1", "stopped r1", "start r2", "end r2"}));
  EXPECT_EQ(LogTypes(), (Trace{"assistant", "tool_started r2", "tool_result r2"}));
}

TEST_F(CallsTest, EveryCallHasAResultAfterACancel) {
  CancelSource cancel;
  Calls calls(*bench_, stamp_, cancel.token());
  const protocol::Blocks blocks = Blocks({Call("w1", "Change"), Call("w2", "Change")});
  AppendMessage(blocks);
  auto whole = [&]() -> Async<void> { (void)co_await calls.Run(blocks); };
  loop_.Spawn(whole());
  Settle();
  cancel.Cancel();
  Settle();
  EXPECT_EQ(trace_, (Trace{"start w1", "stopped w1"}));
  EXPECT_TRUE(log_->open_calls().empty());
}

}  // namespace
}  // namespace stet::agent
