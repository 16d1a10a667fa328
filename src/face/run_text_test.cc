#include "face/run_text.h"

#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::face {
namespace {

protocol::RunReport Resting() {
  protocol::RunReport report;
  report.phase = "execute";
  report.next.code = "go_on";
  report.next.text = "go on with the phase execute";
  return report;
}

protocol::RunReport Gated(const std::string& state) {
  protocol::RunReport report = Resting();
  protocol::RunGate& gate = report.gates.emplace_back();
  gate.finding_id = "finish-test";
  gate.gate = "finish";
  gate.evidence = "test";
  gate.state = state;
  return report;
}

std::string JsonOf(const protocol::RunReport& report) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject();
  WriteRun(writer, report);
  writer.EndObject();
  return json;
}

TEST(RunTextTest, ARunThatSimplyGoesOnIsNoNews) {
  EXPECT_FALSE(HasNews(Resting()));
  EXPECT_TRUE(RunLines(Resting()).empty());
  EXPECT_FALSE(HasNews(Gated("passed")));
  EXPECT_TRUE(RunLines(Gated("passed")).empty());
}

TEST(RunTextTest, WhatIsOpenHasALineEach) {
  protocol::RunReport report = Gated("failed");
  protocol::RunFinding& finding = report.findings.emplace_back();
  finding.finding_id = "f";
  finding.policy = "rule:x";
  finding.severity = "hard-deny";
  finding.message = "never\npush\x1b[2J";
  report.questions.emplace_back().text = "tabs?";
  report.stop.emplace().kind = "stuck";
  report.stop->reason = "twice the same";
  report.next.code = "stop";
  report.next.text = "the run is stopped";
  EXPECT_TRUE(HasNews(report));
  EXPECT_EQ(RunLines(report),
            std::vector<std::string>({"finding f: hard-deny by rule:x: never push [2J",
                                      "gate finish-test: finish wants test (failed)",
                                      "open question: tabs?", "stopped: stuck: twice the same"}));
  const std::string json = JsonOf(report);
  ASSERT_TRUE(CheckJson(json)) << json;
  const JsonView run = JsonView(json)["run"];
  EXPECT_EQ(run["stop"]["kind"].StringOr(""), "stuck");
  EXPECT_EQ(run["next"]["code"].StringOr(""), "stop");
}

TEST(RunTextTest, ThePlanShowsWhatLacksEvidence) {
  protocol::RunReport report = Resting();
  protocol::RunPromise& promise = report.promise.emplace();
  promise.state = "confirmed";
  for (const char* id : {"a", "b"}) {
    protocol::RunClause& clause = promise.clauses.emplace_back();
    clause.id = id;
    clause.text = std::string("clause ") + id;
    clause.evidence = "test";
  }
  report.unmet_clauses = {"b"};
  EXPECT_EQ(PlanText(report),
            "  phase: execute\n  plan: confirmed\n    [x] clause a (proved by: test)\n"
            "    [ ] clause b (proved by: test)\n  next: go on with the phase execute\n");
}

TEST(RunTextTest, TurnsAreNumberedFromTheNewestFinishedOne) {
  protocol::TurnRows turns(2);
  turns[0].id = "e_2";
  turns[0].words = "second";
  turns[0].newest = true;
  turns[1].id = "e_1";
  turns[1].words = "first";
  turns[1].bytes = 12;
  turns[1].snipped = true;
  EXPECT_EQ(TurnsText(turns, true, 80), "  1  e_1         12 bytes  snipped  first\n");
  EXPECT_TRUE(
      TurnsText(turns, false, 80).starts_with("  1  e_2          0 bytes  newest   second"));
}

TEST(RunTextTest, PinsAndQuestionsFitTheirLines) {
  protocol::RunPins pins(1);
  pins[0].pin_id = "pin_1";
  pins[0].text = "never\ntouch";
  pins[0].source = "agents_md:/p";
  EXPECT_EQ(PinsText(pins, 80), "  1  pin_1  never touch  (agents_md:/p)\n");
  EXPECT_EQ(PinsText(pins, 12), "  1  pin_1 …\n");
  protocol::RunReport report = Resting();
  protocol::RunQuestion& question = report.questions.emplace_back();
  question.text = "which?";
  question.blocking = true;
  question.options = Raw{R"([{"label":"red"},"blue"])"};
  EXPECT_EQ(QuestionsText(report), "  which? (waits for an answer)\n    - red\n    - blue\n");
}

}  // namespace
}  // namespace stet::face
