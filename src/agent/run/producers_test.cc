#include "agent/run/producers.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "agent/calls/calls.h"
#include "agent/resume.h"
#include "agent/workbench_fixture.h"
#include "base/hash.h"
#include "json/view.h"
#include "tool/builtin.h"

namespace stet::agent {
namespace {

/// Does what the test says.
class ScriptedTool final : public tool::Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Bash"; }
  [[nodiscard]] std::string_view description() const override { return "does what it is told"; }
  [[nodiscard]] std::string_view schema() const override { return R"({"type":"object"})"; }
  [[nodiscard]] Result<tool::Intent> Intend(const Raw& args,
                                            const tool::Workspace&) const override {
    tool::Intent intent;
    intent.effects = true;
    intent.command = JsonView(args.text)["command"].StringOr("");
    intent.summary = intent.command;
    return intent;
  }
  Async<tool::Outcome> Run(const Raw&, tool::Call& call) override {
    ++runs;
    if (fact) {
      fact->tool_call_id = call.tool_call_id;
      EXPECT_TRUE(call.record_write(*fact));
    }
    co_return outcome;
  }

  int runs = 0;
  std::optional<protocol::FileFact> fact;
  tool::Outcome outcome = tool::Say("done");
};

class RunProducersTest : public WorkbenchTest {
 protected:
  RunProducersTest() {
    auto bash = std::make_unique<ScriptedTool>();
    bash_ = bash.get();
    AddTool(std::move(bash));
    AddTool(tool::MakeExitPlanTool());
    OpenTools();
    Append(*log_, log::User("go"));
  }

  /// One call, to its result. `answer`, if any, is what the user says when asked.
  void Run(const std::string& tool, const std::string& args, const std::string& answer = "") {
    protocol::ToolCallBlock block;
    block.tool_call_id = "call" + std::to_string(++calls_);
    block.tool_name = tool;
    block.args = Raw{args};
    protocol::AssistantMessage message;
    message.message.blocks.emplace_back(block);
    const protocol::Blocks blocks = message.message.blocks;
    Append(*log_, {.payload = std::move(message)});
    Calls calls(*bench_, stamp_, {});
    Status ran = Fail(Code::kIo, "not ended");
    auto whole = [&]() -> Async<void> { ran = co_await calls.Run(blocks); };
    asks_->set_present(!answer.empty());
    loop_.Spawn(whole());
    Settle();
    if (!answer.empty()) {
      protocol::QuestionAnswer said;
      said.question_id = block.tool_call_id;
      said.answer = Raw{answer};
      EXPECT_TRUE(asks_->Answer(said, "tester"));
      Settle();
    }
    EXPECT_TRUE(ran) << ran.error().Text();
    EXPECT_TRUE(log_->open_calls().empty());
  }
  void Bash(const std::string& command) { Run("Bash", R"({"command":")" + command + R"("})"); }

  const run::State& State() {
    EXPECT_TRUE(bench_->run.Update(*log_));
    return bench_->run.state();
  }
  std::string LastResult() {
    const std::vector<protocol::ToolResult> results = All<protocol::ToolResult>();
    return results.empty() ? "" : results.back().content.text;
  }
  void Exit(int code) {
    bash_->outcome = tool::Say("output");
    bash_->outcome.is_error = code != 0;
    bash_->outcome.details = Raw{R"({"exitCode":)" + std::to_string(code) + "}"};
  }
  void Gate(const std::string& gate, const std::string& evidence) {
    protocol::FindingRaised raised;
    raised.finding_id = "g-" + gate;
    raised.policy = "gate:" + gate;
    raised.severity = "evidence-required";
    raised.message = "as configured";
    raised.subject = Raw{R"({"gate":")" + gate + R"(","evidence":")" + evidence + R"("})"};
    Append(*log_, {.payload = std::move(raised)});
  }
  /// A compaction with the capsule of this moment.
  void Compact() {
    protocol::Compaction compact;
    compact.summary = "so far";
    compact.capsule = Raw{Encode(run::MakeCapsule(State(), {.session_id = log_->header().session_id,
                                                            .trace_id = "turn",
                                                            .leaf_id = log_->leaf_id(),
                                                            .seq = log_->last_seq(),
                                                            .generation = State().generation() + 1,
                                                            .created_at = 1,
                                                            .reader = ReadForCapsule}))};
    Append(*log_, {.payload = std::move(compact)});
  }
  std::string File(const std::string& name, const std::string& content) {
    const std::string path = temp_.path() + "/" + name;
    EXPECT_TRUE(WriteFile(path, content));
    return path;
  }
  static Status WriteFile(const std::string& path, const std::string& content) {
    return ReplaceFile(path, content, Durable::kNo, 0644);
  }

  ScriptedTool* bash_ = nullptr;
  int calls_ = 0;
};

TEST_F(RunProducersTest, ADenialIsAWarningAndAHardRuleADenialForGoodRaisedOnce) {
  bench_->settings = CurrentSettings({.rules = {.mode = policy::Mode::kBypass,
                                                .deny = *policy::ParseRules("Bash(rm*)"),
                                                .hard = *policy::ParseRules("Bash(git push*)")}});
  Bash("rm x");
  Bash("rm x");
  Bash("git push");
  Bash("git push");
  EXPECT_EQ(bash_->runs, 0);
  const auto raised = All<protocol::FindingRaised>();
  ASSERT_EQ(raised.size(), 2u);
  EXPECT_EQ(raised[0].severity, "warning");
  EXPECT_EQ(raised[0].policy, "deny:Bash(rm*)");
  EXPECT_EQ(raised[1].severity, "hard-deny");
  EXPECT_EQ(raised[1].subject->text, R"({"tool":"Bash","what":"git push"})");
  EXPECT_EQ(State().next().code, "denied");
  EXPECT_TRUE(State().capabilities().may_run) << "the rule denies that command, not others";
  EXPECT_FALSE(State().capabilities().may_finish);
}

TEST_F(RunProducersTest, TestsAndBuildsAreEvidenceByTheirExitCode) {
  Gate("finish", "test");
  EXPECT_FALSE(State().capabilities().may_finish);
  Exit(1);
  Bash("make test");
  EXPECT_EQ(State().gates()[0].state, "failed");
  Exit(0);
  Bash("ls");
  Bash("make test | cat");
  EXPECT_EQ(State().gates()[0].state, "failed") << "neither proves anything";
  Bash("make test");
  EXPECT_EQ(State().gates()[0].state, "passed");
  EXPECT_TRUE(State().capabilities().may_finish);
  const auto evidence = All<protocol::Evidence>();
  ASSERT_EQ(evidence.size(), 2u);
  EXPECT_EQ(evidence[1].kind, "test");
  EXPECT_EQ(evidence[1].data->text, R"({"command":"make test","exit":0})");
}

TEST_F(RunProducersTest, WhatATestItselfWritesDoesNotVoidIt) {
  Exit(0);
  protocol::FileFact fact;
  fact.op = "outside_write";
  fact.path = "/p/out.log";
  bash_->outcome.writes.push_back(fact);
  Bash("make test");
  EXPECT_EQ(State().evidence().Judge("test"), run::Proof::kPassed);
}

TEST_F(RunProducersTest, AGateHoldsUpCallsByPolicyInEveryMode) {
  Gate("run", "user");
  Bash("make");
  EXPECT_EQ(bash_->runs, 0);
  EXPECT_NE(LastResult().find("rule: run:run"), std::string::npos);
  EXPECT_EQ(All<protocol::FindingRaised>().size(), 1u) << "the gate is on record already";
}

TEST_F(RunProducersTest, WritesFromOutsideAreFindingsOnlyOfAGateThatAsks) {
  protocol::FileFact fact;
  fact.op = "outside_write";
  fact.path = "/p/a";
  bash_->outcome.writes.push_back(fact);
  Bash("sed -i s/a/b/ a");
  EXPECT_TRUE(All<protocol::FindingRaised>().empty());
  Gate("outside-write", "");
  Bash("sed -i s/a/b/ a");
  Bash("sed -i s/a/b/ a");
  const auto raised = All<protocol::FindingRaised>();
  ASSERT_EQ(raised.size(), 2u);
  EXPECT_EQ(raised[1].policy, "gate:outside-write");
  EXPECT_EQ(raised[1].subject->text, R"({"path":"/p/a"})");
  EXPECT_EQ(State().gates()[0].state, "failed");
}

TEST_F(RunProducersTest, AWriteWhoseCallFailedIsToldByItsFile) {
  protocol::FileFact fact;
  fact.op = "write";
  fact.path = File("a", "old");
  fact.before = Sha256Hex("old");
  fact.after = Sha256Hex("new");
  bash_->fact = fact;
  bash_->outcome = tool::Problem("no room");
  Bash("x");
  EXPECT_EQ(All<protocol::Transaction>()[0].status, "reverted");
  EXPECT_TRUE(State().transactions().open().empty());
  EXPECT_EQ(State().next().code, "go_on");
}

TEST_F(RunProducersTest, ACompactionIsRestoredBeforeAnythingRuns) {
  const std::string path = File("a", "old");
  protocol::FileFact read;
  read.op = "read";
  read.path = path;
  read.before = read.after = Sha256Hex("old");
  Append(*log_, {.payload = read});
  Compact();
  // Neither its size nor its time tells: only its content does.
  const auto time = std::filesystem::last_write_time(path);
  ASSERT_TRUE(WriteFile(path, "odd"));
  std::filesystem::last_write_time(path, time);
  EXPECT_TRUE(State().restore_pending());
  EXPECT_FALSE(CapabilitiesNow(*bench_).may_write);
  ASSERT_TRUE(RestoreAfterCompact(*bench_, stamp_));
  EXPECT_FALSE(State().restore_pending());
  EXPECT_TRUE(CapabilitiesNow(*bench_).may_write);
  const auto owed = All<protocol::Owed>();
  ASSERT_EQ(owed.size(), 1u);
  EXPECT_NE(owed[0].text.find("stale"), std::string::npos);
  ASSERT_TRUE(RestoreAfterCompact(*bench_, stamp_));
  EXPECT_EQ(All<protocol::CapsuleRestored>().size(), 1u) << "nothing new, nothing said";
  ASSERT_TRUE(WriteFile(path, "old"));
  ASSERT_TRUE(RestoreAfterCompact(*bench_, stamp_));
  EXPECT_EQ(All<protocol::CapsuleRestored>().size(), 2u);
}

TEST_F(RunProducersTest, CallsRestoreWhatNobodyRestoredBefore) {
  Compact();
  Bash("ls");
  EXPECT_EQ(bash_->runs, 1);
  EXPECT_EQ(All<protocol::CapsuleRestored>().size(), 1u);
}

TEST_F(RunProducersTest, PlanModeIsAPhaseThatOnlyTheUserEnds) {
  protocol::SessionInfo info;
  info.changes.mode = "acceptEdits";
  Append(*log_, {.payload = info});
  info.changes.mode = "plan";
  Append(*log_, {.payload = info});
  bench_->settings.SetMode(policy::Mode::kPlan);
  Bash("touch x");
  EXPECT_EQ(bash_->runs, 0);
  EXPECT_EQ(State().phase(), run::Phase::kPlan);
  Run("ExitPlan", R"({"plan":"1. touch x"})", R"("not like this")");
  EXPECT_NE(LastResult().find("not like this"), std::string::npos);
  EXPECT_EQ(State().phase(), run::Phase::kPlan);
  Run("ExitPlan", R"({"plan":"1. touch y"})", R"("Approve")");
  EXPECT_EQ(State().phase(), run::Phase::kExecute);
  EXPECT_EQ(bench_->settings->rules.mode, policy::Mode::kAcceptEdits);
  EXPECT_EQ(All<protocol::SessionInfo>().back().changes.mode, "acceptEdits");
  EXPECT_TRUE(CapabilitiesNow(*bench_).may_run);
  Run("ExitPlan", R"({"plan":"again"})");
  EXPECT_NE(LastResult().find("no plan mode"), std::string::npos);
}

TEST_F(RunProducersTest, LeavingPlanModeByHandEndsThePhase) {
  bench_->settings.SetMode(policy::Mode::kPlan);
  ASSERT_TRUE(PrepareRun(*bench_, stamp_));
  EXPECT_EQ(State().phase(), run::Phase::kPlan);
  bench_->settings.SetMode(policy::Mode::kDefault);
  ASSERT_TRUE(PrepareRun(*bench_, stamp_));
  EXPECT_EQ(State().phase(), run::Phase::kExecute);
}

TEST_F(RunProducersTest, AfterACrashAWriteIsSettledAndALostQuestionWithdrawn) {
  protocol::Question question;
  question.question_id = "lost";
  question.phase = "asked";
  question.blocking = true;
  Append(*log_, {.payload = question});
  const std::string path = File("a", "new");
  Append(*log_, log::Assistant("", {"c1"}));
  protocol::ToolStarted started;
  started.tool_call_id = "c1";
  started.effects = true;
  Append(*log_, {.payload = started});
  protocol::FileFact fact;
  fact.op = "write";
  fact.path = path;
  fact.before = Sha256Hex("old");
  fact.after = Sha256Hex("new");
  fact.tool_call_id = "c1";
  Append(*log_, {.payload = fact});
  EXPECT_EQ(State().next().code, "question");
  const auto opening = ReadUnfinished(*log_);
  ASSERT_TRUE(opening);
  ASSERT_TRUE(SettleInterrupted(*log_, *opening, false));
  EXPECT_EQ(State().next().code, "go_on");
  EXPECT_EQ(State().transactions().open()[0].status, "written");
  EXPECT_NE(LastResult().find("was written"), std::string::npos);
}

}  // namespace
}  // namespace stet::agent
