// What a client answers to an ask: what runs then, and what is allowed from then on.
#include <gtest/gtest.h>

#include "agent/calls/calls.h"
#include "agent/workbench_fixture.h"
#include "json/view.h"

namespace stet::agent {
namespace {

/// Has a command for an argument, and runs none.
class CommandTool final : public tool::Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Bash"; }
  [[nodiscard]] std::string_view description() const override { return "runs"; }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","required":["command"],"properties":{"command":{"type":"string"}}})";
  }
  [[nodiscard]] Result<tool::Intent> Intend(const Raw& args,
                                            const tool::Workspace&) const override {
    tool::Intent intent;
    intent.effects = true;
    intent.command = JsonView(args.text)["command"].StringOr("");
    return intent;
  }
  Async<tool::Outcome> Run(const Raw& args, tool::Call&) override {
    ran.push_back(JsonView(args.text)["command"].StringOr(""));
    co_return tool::Say("done");
  }

  std::vector<std::string> ran;
};

class CallsAnswerTest : public WorkbenchTest {
 protected:
  CallsAnswerTest() {
    auto tool = std::make_unique<CommandTool>();
    tool_ = tool.get();
    AddTool(std::move(tool));
    OpenTools();
    bench_->settings =
        CurrentSettings({.rules = {.mode = policy::Mode::kDefault,
                                   .deny = {{.tool = "Bash", .specifier = "rm *"}}}});
    bench_->kept_rules.keep = [this](const std::string& scope, const std::string& rule) -> Status {
      kept_.push_back(scope + " " + rule);
      return {};
    };
    asks_->set_present(true);
    Append(log::User("go"));
  }
  ~CallsAnswerTest() override { loop_.Abandon(); }

  static Raw Args(const std::string& command) { return Raw{R"({"command":")" + command + R"("})"}; }
  /// Calls for the command, until it has run or an answer is waited for.
  void Call(const std::string& command) {
    protocol::ToolCallBlock block{.tool_call_id = "tc_" + std::to_string(++calls_),
                                  .tool_name = "Bash",
                                  .args = Args(command)};
    blocks_ = {block};
    protocol::AssistantMessage message;
    message.message.blocks = blocks_;
    Append({.payload = std::move(message)});
    running_ = std::make_unique<Calls>(*bench_, stamp_, cancel_.token());
    auto whole = [this]() -> Async<void> { (void)co_await running_->Run(blocks_); };
    loop_.Spawn(whole());
    Settle();
  }
  bool waits() const { return !asks_->permissions().empty(); }
  Status Answer(const std::string& scope, const std::optional<Raw>& args = {}) {
    protocol::PermissionAnswer answer;
    answer.request_id = asked_.empty() ? asks_->permissions().at(0).request_id : asked_;
    answer.allow = true;
    answer.scope = scope;
    answer.args = args;
    const Status taken = asks_->Answer(answer, "tester");
    Settle();
    return taken;
  }
  /// The last answer in the log.
  protocol::Permission Answered() {
    protocol::Permission last;
    for (const protocol::Permission& one : All<protocol::Permission>())
      if (one.phase == "answered") last = one;
    return last;
  }

  CommandTool* tool_ = nullptr;
  std::vector<std::string> kept_;
  std::string asked_;  // Empty: the one that is open.
  CancelSource cancel_;
  int calls_ = 0;
  protocol::Blocks blocks_;
  std::unique_ptr<Calls> running_;
};

using Commands = std::vector<std::string>;

TEST_F(CallsAnswerTest, WhatIsAllowedForTheSessionIsNotAskedAgain) {
  Call("make");
  ASSERT_TRUE(Answer("session"));
  Call("make");
  EXPECT_EQ(tool_->ran, (Commands{"make", "make"}));
  EXPECT_EQ(Answered().rule, "Bash(make)");
  EXPECT_TRUE(kept_.empty());
}

TEST_F(CallsAnswerTest, AnEditedCallGrantsWhatRunsAndNotWhatWasAsked) {
  Call("make install");
  ASSERT_TRUE(Answer("session", Args("make test")));
  EXPECT_EQ(tool_->ran, Commands{"make test"});
  EXPECT_EQ(Answered().rule, "Bash(make test:*)");
  Call("make test");
  EXPECT_EQ(tool_->ran, (Commands{"make test", "make test"}));
  Call("make install");
  EXPECT_TRUE(waits()) << "the user never allowed it";
}

TEST_F(CallsAnswerTest, WhatIsKeptForLaterSessionsIsTheCallAsEdited) {
  Call("make install");
  ASSERT_TRUE(Answer("always", Args("make test")));
  EXPECT_EQ(kept_, Commands{"always Bash(make test:*)"});
}

TEST_F(CallsAnswerTest, ArgumentsThatAreTheSameAreNoEdit) {
  Call("make");
  ASSERT_TRUE(Answer("session", Args("make")));
  EXPECT_EQ(Answered().rule, "Bash(make)");
}

TEST_F(CallsAnswerTest, AnEditThatDoesNotRunGrantsNothing) {
  for (const Raw& edit : {Args("rm -rf x"), Raw{R"({"file":"x"})"}}) {
    Call("make install");
    ASSERT_TRUE(Answer("always", edit));
    EXPECT_TRUE(tool_->ran.empty());
    EXPECT_FALSE(waits());
    EXPECT_EQ(Answered().scope, "always");
    EXPECT_FALSE(Answered().rule) << *Answered().rule;
  }
  EXPECT_TRUE(bench_->settings->rules.allow.empty());
  EXPECT_TRUE(kept_.empty());
  Call("make install");
  EXPECT_TRUE(waits());
}

TEST_F(CallsAnswerTest, ALaterProcessHasTheGrantOfTheEditedCall) {
  Call("make install");
  ASSERT_TRUE(Answer("session", Args("make test")));
  running_.reset();
  Reopen();
  ASSERT_EQ(log_->index().state().grants.size(), 1U);
  EXPECT_EQ(log_->index().state().grants[0].rule, "Bash(make test:*)");
}

TEST_F(CallsAnswerTest, AnAnswerBehindACancelIsRefusedAndNotInTheLog) {
  Call("make");
  asked_ = asks_->permissions().at(0).request_id;
  cancel_.Cancel();
  const Status late = Answer("session");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kNotFound);
  const std::vector<protocol::Permission> said = All<protocol::Permission>();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1].phase, "withdrawn");
  EXPECT_TRUE(tool_->ran.empty());
}

TEST_F(CallsAnswerTest, AGrantCountsOnlyWithTheMacOfThisDeviceForThisSession) {
  const OwnEvents own{.key = std::string(32, 'k')};
  protocol::Permission answer;
  answer.request_id = "perm_1";
  answer.tool_call_id = "tc_1";
  answer.phase = "answered";
  answer.answer = "allow";
  answer.rule = "Bash(make)";
  answer.scope = "session";
  const std::string id = log_->header().session_id;
  answer.mac = MacOf(own, id, answer);
  Append({.payload = answer});
  protocol::Permission forged = answer;
  forged.rule = "Bash(rm -r /)";
  Append({.payload = forged});
  forged.mac.reset();
  Append({.payload = forged});
  forged.mac = MacOf(own, "ses_other", forged);
  Append({.payload = forged});
  forged.mac = MacOf({.key = std::string(32, 'x')}, id, forged);
  Append({.payload = forged});
  const Result<Unfinished> read = ReadUnfinished(*log_, own);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->grants.size(), 1U);
  EXPECT_EQ(policy::RuleText(read->grants[0]), "Bash(make)");
  protocol::Permission edited = answer;
  edited.args = Raw{"{}"};
  EXPECT_FALSE(IsOwn(own, id, log::GrantOf(edited))) << "what was edited counts as well";
}

}  // namespace
}  // namespace stet::agent
