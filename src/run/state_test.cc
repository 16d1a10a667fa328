#include "run/state.h"

#include <gtest/gtest.h>

#include "run/run_fixture.h"

namespace stet::run {
namespace {

TEST(RunStateTest, AnOrdinaryRequestIsHeldUpByNothing) {
  Story story;
  story.User();
  const protocol::RunReport report = story.state.Report();
  EXPECT_EQ(report.phase, "execute");
  EXPECT_EQ(report.next.code, "go_on");
  EXPECT_TRUE(report.capabilities.may_write && report.capabilities.may_run &&
              report.capabilities.may_finish);
  EXPECT_EQ(report.capabilities.reason, "");
  EXPECT_TRUE(report.gates.empty());
}

TEST(RunStateTest, PlanningIsReadOnlyUntilTheRunMovesOn) {
  Story story;
  story.User();
  story.Move("execute", "plan");
  EXPECT_FALSE(story.state.capabilities().may_write);
  EXPECT_FALSE(story.state.capabilities().may_run);
  EXPECT_EQ(story.state.capabilities().reason, "the run is in the phase plan");
  story.Move("plan", "execute");
  EXPECT_TRUE(story.state.capabilities().may_write);
}

TEST(RunStateTest, APhaseThatIsNotKnownPermitsLeast) {
  Story story;
  story.Move("execute", "from_the_future");
  EXPECT_EQ(story.state.phase(), Phase::kIntake);
  const protocol::RunCapabilities may = story.state.capabilities();
  EXPECT_FALSE(may.may_write || may.may_run || may.may_finish);
}

TEST(RunStateTest, AMoveFromAnotherPhaseIsBelievedOnlyWhenItRestricts) {
  Story story;
  story.Move("execute", "plan");
  story.Move("verify", "execute");
  EXPECT_EQ(story.state.phase(), Phase::kPlan);
  story.Move("verify", "intake");
  EXPECT_EQ(story.state.phase(), Phase::kIntake);
}

TEST(RunStateTest, WhatBelongsToTheRunEndsWithItAndTheRestStays) {
  Story story;
  story.User();
  story.Move("execute", "verify", "look at the tests");
  story.Stop("stuck");
  story.Promise("confirmed", "test");
  story.Raise("w", severity::kWarning);
  story.Raise("h", severity::kHardDeny);
  story.Raise("s", severity::kSoftDeny);
  story.Ask("q", "which one?");
  story.Pin("pin", "never touch main.cc");
  story.Write("call", "/p/a", "", "new");
  story.User();
  const protocol::RunReport report = story.state.Report();
  EXPECT_EQ(report.phase, "execute");
  EXPECT_FALSE(report.stop || report.promise || report.resume || report.repair);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].finding_id, "h");
  EXPECT_EQ(report.questions.size(), 1u);
  EXPECT_EQ(report.pins.size(), 1u);
  EXPECT_EQ(report.transactions.size(), 1u);
}

TEST(RunStateTest, AWaiverNeedsWhoAndWhyAndTheModelLiftsNoDenial) {
  Story story;
  story.Raise("h", severity::kHardDeny);
  story.Waive("h", "", "trust me");
  story.Waive("h", "user", " ");
  story.Waive("h", "model", "it is fine");
  story.Waive("h", "user", "it is fine", "justification");
  story.Clear("h", "model");
  EXPECT_EQ(story.state.findings().open().size(), 1u);
  story.Waive("h", "user", "I checked it");
  EXPECT_TRUE(story.state.findings().open().empty());
}

TEST(RunStateTest, ASoftDenialIsLiftedByAJustification) {
  Story story;
  story.Raise("s", severity::kSoftDeny);
  EXPECT_FALSE(story.state.capabilities().may_finish);
  EXPECT_TRUE(story.state.capabilities().may_write);
  story.Waive("s", "model", "the test is wrong, see line 3", "justification");
  EXPECT_TRUE(story.state.capabilities().may_finish);
}

TEST(RunStateTest, AHardDenialHoldsUpWritingOnlyWhenItSaysSo) {
  Story story;
  story.Raise("h", severity::kHardDeny);
  EXPECT_TRUE(story.state.capabilities().may_write);
  EXPECT_FALSE(story.state.capabilities().may_finish);
  story.Raise("h2", severity::kHardDeny, "no", R"({"holds":["write"]})");
  EXPECT_FALSE(story.state.capabilities().may_write);
  EXPECT_TRUE(story.state.capabilities().may_run);
}

TEST(RunStateTest, AnUnknownSeverityIsADenial) {
  Story story;
  story.Raise("x", "hint");
  EXPECT_EQ(story.state.next().code, "denied");
}

TEST(RunStateTest, AGateHasThreeStates) {
  Story story;
  story.Gate("tests", "finish", "test");
  EXPECT_EQ(story.state.gates()[0].state, "not_evaluated");
  EXPECT_FALSE(story.state.capabilities().may_finish);
  story.Evidence("test", "failed");
  EXPECT_EQ(story.state.gates()[0].state, "failed");
  story.Evidence("test", "passed");
  EXPECT_EQ(story.state.gates()[0].state, "passed");
  EXPECT_TRUE(story.state.capabilities().may_finish);
  story.Write("call", "/p/a", "", "new");
  story.Result("call");
  EXPECT_EQ(story.state.gates()[0].state, "failed") << "what was tested is not what is there";
  EXPECT_EQ(story.state.next().code, "gate");
}

TEST(RunStateTest, AGateForWritingHoldsUpWritingAlone) {
  Story story;
  story.Gate("read-first", "write", "read");
  EXPECT_FALSE(story.state.capabilities().may_write);
  EXPECT_TRUE(story.state.capabilities().may_run);
  EXPECT_TRUE(story.state.next().blocks);
  story.Read("/p/a", "text");
  EXPECT_TRUE(story.state.capabilities().may_write);
}

TEST(RunStateTest, AGateThatOnlyWarnsHoldsNothingUp) {
  Story story;
  story.Raise("g", severity::kWarning, "run the tests", R"({"gate":"finish","evidence":"test"})",
              "gate:g");
  story.User();
  EXPECT_EQ(story.state.gates().size(), 1u) << "it was configured, not met";
  EXPECT_TRUE(story.state.capabilities().may_finish);
}

TEST(RunStateTest, EvidenceIsContradictedByALaterFailure) {
  Story story;
  story.Evidence("build", "passed");
  EXPECT_EQ(story.state.evidence().Judge("build"), Proof::kPassed);
  story.Evidence("build", "failed");
  EXPECT_EQ(story.state.evidence().Judge("build"), Proof::kFailed);
  EXPECT_FALSE(story.state.Report().evidence[0].valid);
  EXPECT_EQ(story.state.evidence().Judge("test"), Proof::kNone);
}

TEST(RunStateTest, WhatAModelSaysOfAPromiseIsNoEvidence) {
  Story story;
  story.User();
  story.Promise("confirmed", "test");
  protocol::AssistantMessage message;
  protocol::TextBlock text;
  text.text = "<promise>it works</promise> All tests pass.";
  message.message.blocks.emplace_back(text);
  story.Add(std::move(message));
  EXPECT_EQ(story.state.unmet_clauses(), protocol::Texts{"c1"});
  EXPECT_FALSE(story.state.capabilities().may_finish);
  story.Evidence("test", "passed");
  EXPECT_TRUE(story.state.capabilities().may_finish);
  EXPECT_EQ(story.state.next().code, "finish");
}

TEST(RunStateTest, AConfirmedPromiseIsChangedByANewVersionOnly) {
  Story story;
  story.Promise("confirmed", "test");
  story.Promise("drafted", "read");
  EXPECT_EQ(story.state.promise()->clauses[0].evidence, "test");
  story.Promise("confirmed", "read", 2, "model");
  EXPECT_EQ(story.state.promise()->state, "drafted") << "nobody confirms his own promise";
  story.Promise("confirmed", "test", 1);
  EXPECT_EQ(story.state.promise()->version, 2);
}

TEST(RunStateTest, AWriteGoesFromItsFactByItsResultToItsTest) {
  Story story;
  story.Write("call", "/p/a", "old", "new");
  EXPECT_EQ(story.state.transactions().open()[0].status, tx::kWriting);
  EXPECT_EQ(story.state.transactions().open()[0].transaction_id, "call:/p/a");
  EXPECT_EQ(story.state.next().code, "go_on") << "its call still runs";
  story.Result("call");
  EXPECT_EQ(story.state.transactions().open()[0].status, tx::kWritten);
  story.Evidence("test", "passed");
  EXPECT_TRUE(story.state.transactions().open().empty());
  EXPECT_EQ(story.state.transactions().closed().verified, 1);
}

TEST(RunStateTest, AWriteThatFailedStaysInDoubtUntilTheFileIsLookedAt) {
  Story story;
  story.Write("call", "/p/a", "old", "new");
  story.Result("call", true);
  EXPECT_EQ(story.state.next().code, "reconcile");
  EXPECT_FALSE(story.state.capabilities().may_finish);
  story.Read("/p/a", "something");
  EXPECT_EQ(story.state.next().code, "go_on");
  EXPECT_EQ(story.state.transactions().closed().superseded, 1);
}

TEST(RunStateTest, AWriteWhoseFileIsPutBackIsReverted) {
  Story story;
  story.Write("c1", "/p/new", "", "made");
  story.Write("c2", "/p/old", "before", "after");
  story.Write("c3", "/p/other", "before", "after");
  for (const char* call : {"c1", "c2", "c3"}) story.Result(call);
  ASSERT_EQ(story.state.transactions().open().size(), 3U);
  story.PutBack("/p/new", "", "made");
  story.PutBack("/p/old", "before", "after");
  ASSERT_EQ(story.state.transactions().open().size(), 1U);
  EXPECT_EQ(story.state.transactions().open()[0].path, "/p/other");
  EXPECT_EQ(story.state.transactions().closed().reverted, 2);
  EXPECT_EQ(story.state.transactions().closed().superseded, 0);
}

TEST(RunStateTest, AFileThatIsPutBackToBeforeSeveralWritesHasNoneLeftToVerify) {
  Story story;
  for (const char* call : {"c1", "c2"}) {
    const bool first = std::string_view(call) == "c1";
    story.Write(call, "/p/new", first ? "" : "one", first ? "one" : "two");
    story.Result(call);
  }
  story.PutBack("/p/new", "", "two");
  EXPECT_TRUE(story.state.transactions().open().empty());
  EXPECT_EQ(story.state.transactions().closed().superseded, 2);
  EXPECT_FALSE(RenderCapsule(story.MakeCapsule()).contains("not verified"));
}

TEST(RunStateTest, AWriteThatStillRunsIsNotRevertedByADeletion) {
  Story story;
  story.Write("call", "/p/new", "", "made");
  story.PutBack("/p/new", "", "made");
  ASSERT_EQ(story.state.transactions().open().size(), 1U);
  story.Result("call");
  EXPECT_EQ(story.state.transactions().open()[0].status, tx::kWritten);
}

TEST(RunStateTest, AnExplicitTransactionOverridesTheProjectedOne) {
  Story story;
  story.Write("call", "/p/a", "old", "new");
  story.Transaction("call:/p/a", "/p/a", "odd");
  EXPECT_EQ(story.state.transactions().open()[0].status, tx::kUnknown);
  EXPECT_EQ(story.state.transactions().open()[0].before, Sha256Hex("old"));
  story.Transaction("call:/p/a", "/p/a", tx::kReverted);
  EXPECT_TRUE(story.state.transactions().open().empty());
  EXPECT_EQ(story.state.transactions().closed().reverted, 1);
}

TEST(RunStateTest, AnchorsFollowReadsAndOwnWritesButNotOthers) {
  Story story;
  story.Read("/p/a", "one", R"({"lines":[[1,1]],"total":3})");
  EXPECT_FALSE(story.state.anchors().Find("/p/a")->whole);
  story.Read("/p/a", "one", R"({"lines":[[2,3]],"total":3})");
  EXPECT_EQ(story.state.anchors().Find("/p/a")->lines.size(), 1u);
  story.Write("call", "/p/a", "one", "two");
  EXPECT_EQ(story.state.anchors().Find("/p/a")->hash, Sha256Hex("two"));
  protocol::FileFact outside;
  outside.op = "outside_write";
  outside.path = "/p/a";
  outside.after = Sha256Hex("three");
  story.Add(outside);
  EXPECT_EQ(story.state.anchors().Find("/p/a")->hash, Sha256Hex("two"));
  outside.op = "delete";
  story.Add(outside);
  EXPECT_EQ(story.state.anchors().Find("/p/a"), nullptr);
}

TEST(RunStateTest, TheAnchorsUsedLastAreKept) {
  Story story;
  for (std::size_t i = 0; i < Anchors::kMaxAnchors + 10; ++i)
    story.Read("/p/" + std::to_string(i), "x");
  EXPECT_EQ(story.state.anchors().All().size(), Anchors::kMaxAnchors);
  EXPECT_EQ(story.state.anchors().Find("/p/9"), nullptr);
  EXPECT_NE(story.state.anchors().Find("/p/10"), nullptr);
}

TEST(RunStateTest, WarningsAreBounded) {
  Story story;
  story.Raise("h", severity::kHardDeny);
  for (std::size_t i = 0; i < Findings::kMaxWarnings + 5; ++i)
    story.Raise("w" + std::to_string(i), severity::kWarning);
  EXPECT_EQ(story.state.findings().open().size(), Findings::kMaxWarnings + 1);
  EXPECT_EQ(story.state.findings().open().front().data.finding_id, "h");
}

TEST(RunStateTest, WritesAreLockedFromACompactionUntilItIsRestored) {
  Story story;
  story.User();
  const Capsule capsule = story.MakeCapsule();
  const std::string compact = story.Compact(capsule);
  EXPECT_TRUE(story.state.restore_pending());
  EXPECT_FALSE(story.state.capabilities().may_write || story.state.capabilities().may_run);
  EXPECT_EQ(story.state.next().code, "reconcile");
  protocol::CapsuleRestored other;
  other.compact_id = "e999";
  story.Add(other);
  EXPECT_TRUE(story.state.restore_pending()) << "that was another compaction";
  story.NoteRestored(compact, story.Restore(capsule));
  EXPECT_FALSE(story.state.restore_pending());
  EXPECT_TRUE(story.state.capabilities().may_write);
}

}  // namespace
}  // namespace stet::run
