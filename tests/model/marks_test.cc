// Pins, snips and gates over the emulator: what a model is shown of them, and what people are told.
#include <fmt/format.h>

#include "client/await.h"
#include "json/view.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

constexpr std::string_view kAnswers = R"({"replies":[
  {"when":{"contains":"Sum it up for yourself"},"times":0,"blocks":[{"text":"They talk."}]},
  {"times":0,"blocks":[{"text":"Yes."}]}]})";

class MarksTest : public LiveTest {
 protected:
  Result<std::string> Mark(const std::string& what, const std::string& id = "",
                           const std::string& text = "") {
    protocol::Mark mark;
    mark.what = what;
    mark.id = id;
    mark.text = text;
    return client::Await(*session_, &client::LiveSession::Mark, mark);
  }
  std::string Marked(const std::string& what, const std::string& id = "",
                     const std::string& text = "") {
    const Result<std::string> done = Mark(what, id, text);
    EXPECT_TRUE(done) << done.error().Text();
    return done.value_or("");
  }
  std::string Refused(const std::string& what, const std::string& id = "",
                      const std::string& text = "") {
    const Result<std::string> done = Mark(what, id, text);
    EXPECT_FALSE(done) << *done;
    return done ? "" : done.error().message;
  }
  std::string LastRequest() const { return Requests().back(); }
  /// As it stands inside of a JSON string.
  static std::string Json(const std::string& text) {
    const std::string quoted = Encode(text);
    return quoted.substr(1, quoted.size() - 2);
  }
  protocol::RunReport RunNow() {
    const Result<protocol::RunReport> report = client::Await(*session_, &client::LiveSession::Run);
    EXPECT_TRUE(report) << report.error().Text();
    return report.value_or(protocol::RunReport());
  }
};

const std::string kPinned = "Never  touch \"main\":\n\tnot even once.  ";

TEST_F(MarksTest, APinIsInEveryRequestAndSurvivesACompactionByteForByte) {
  Script(kAnswers);
  Open(Here());
  Marked("pin", "", kPinned);
  Run("first " + std::string(3000, 'x'));
  EXPECT_TRUE(LastRequest().contains(Json(kPinned)));
  Run("second " + std::string(3000, 'y'));
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  Run("third");
  EXPECT_TRUE(LastRequest().contains("They talk."));
  EXPECT_TRUE(LastRequest().contains(Json(kPinned)));
  ASSERT_EQ(RunNow().pins.size(), 1U);
  EXPECT_EQ(RunNow().pins[0].text, kPinned);
  EXPECT_EQ(RunNow().pins[0].source, "user");
}

TEST_F(MarksTest, WhatIsUnpinnedIsSaidToHoldNoLonger) {
  Script(kAnswers);
  Open(Here());
  Marked("pin", "", "one rule");
  Marked("pin", "", "another rule");
  Run("first");
  const std::string id = RunNow().pins.at(0).pin_id;
  EXPECT_EQ(Marked("unpin", "1"), "unpinned " + id);
  Run("second");
  EXPECT_TRUE(LastRequest().contains("has unpinned " + id));
  EXPECT_EQ(RunNow().pins.size(), 1U);
  EXPECT_EQ(Refused("unpin", id), "there is no pin " + id);
  EXPECT_TRUE(Refused("unpin", "2").contains("there is no pin"));
}

TEST_F(MarksTest, APinHoldsOnEveryBranchAndAfterItIsOpenedAgain) {
  Script(kAnswers);
  Open(Here());
  Run("the first question");
  const std::string before = State().leaf_id.value();
  Marked("pin", "", "one rule");
  Run("the second question");
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Rewind, before));
  Run("the third question");
  EXPECT_FALSE(LastRequest().contains("the second question"));
  EXPECT_TRUE(LastRequest().contains("one rule"));
  session_.reset();
  protocol::Attach again = Here();
  again.session_id = session_id_;
  Open(again);
  Run("fourth");
  const std::string body = LastRequest();
  EXPECT_NE(body.find("one rule"), std::string::npos);
  EXPECT_EQ(body.find("one rule"), body.rfind("one rule")) << "it is told once";
}

TEST_F(MarksTest, APinWhileATurnRunsIsToldAtItsNextStep) {
  Script(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":"touch x"}}}]},
                        {"blocks":[{"text":"Done."}]}]})");
  Open(Here("default", true));
  const std::string turn = *Send("go").turn_id;
  ASSERT_TRUE(heard_->Await<protocol::Permission>());
  Marked("pin", "", "one rule");
  EXPECT_EQ(Marked("gate", "", "finish test"), "gate finish-test is set");
  EXPECT_EQ(Marked("clear", "finish-test"), "cleared finish-test");
  EXPECT_TRUE(Refused("snip", "last").contains("a turn is under way"));
  protocol::PermissionAnswer answer;
  answer.request_id = State().asks.at(0).request_id;
  answer.allow = true;
  answer.scope = "once";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Answer, answer));
  EXPECT_EQ(EndOf(turn).reason, "completed");
  EXPECT_TRUE(LastRequest().contains("one rule"));
}

TEST_F(MarksTest, PinsAreBounded) {
  Script(kAnswers);
  Open(Here());
  EXPECT_EQ(Refused("pin", "", " \n"), "there is nothing to pin");
  EXPECT_TRUE(Refused("pin", "", std::string(8001, 'x')).contains("at most 8000 bytes"));
  for (int i = 0; i < 4; ++i) Marked("pin", "", std::string(8000, 'x'));
  EXPECT_TRUE(Refused("pin", "", "x").contains("unpin something"));
}

TEST_F(MarksTest, SectionsOfInstructionsThatAreMarkedArePins) {
  ASSERT_TRUE(ReplaceFile(project_ + "/AGENTS.md", "# A\nx\n## Rules [pinned]\nno tabs\n# B\n",
                          Durable::kNo));
  Script(kAnswers);
  Open(Here());
  Run("first");
  const protocol::RunPins pins = RunNow().pins;
  ASSERT_EQ(pins.size(), 1U);
  EXPECT_EQ(pins[0].text, "## Rules [pinned]\nno tabs\n");
  EXPECT_EQ(pins[0].source, "agents_md:" + project_ + "/AGENTS.md");
  EXPECT_FALSE(LastRequest().contains("The user pinned")) << "the instructions say it already";
}

TEST_F(MarksTest, ASnippedTurnIsGoneFromTheNextRequestAndBackWhenItIsUndone) {
  Script(kAnswers);
  Open(Here());
  Run("the first question");
  Run("the second question");
  Run("the third question");
  const Result<protocol::TurnRows> turns = client::Await(*session_, &client::LiveSession::Turns);
  ASSERT_TRUE(turns);
  ASSERT_EQ(turns->size(), 3U);
  EXPECT_TRUE(turns->at(0).newest);
  EXPECT_EQ(turns->at(1).words, "the second question");
  EXPECT_TRUE(Marked("snip", "2").contains("the second question"));
  Run("the fourth question");
  EXPECT_FALSE(LastRequest().contains("the second question"));
  EXPECT_TRUE(LastRequest().contains("the first question"));
  EXPECT_TRUE(LastRequest().contains("the third question"));
  EXPECT_TRUE(client::Await(*session_, &client::LiveSession::Turns)->at(2).snipped);
  EXPECT_TRUE(Refused("snip", turns->at(1).id).contains("snipped already"));
  EXPECT_TRUE(Marked("unsnip", turns->at(1).id).contains("the second question"));
  Run("the fifth question");
  EXPECT_TRUE(LastRequest().contains("the second question"));
  EXPECT_TRUE(Refused("unsnip", turns->at(1).id).contains("is not snipped"));
}

TEST_F(MarksTest, WhatCannotBeSnippedIsRefusedWithWords) {
  Script(kAnswers);
  Open(Here());
  EXPECT_TRUE(Refused("snip", "last").contains("there is no turn last"));
  Run("first " + std::string(3000, 'x'));
  const std::string first = client::Await(*session_, &client::LiveSession::Turns)->at(0).id;
  EXPECT_TRUE(Refused("snip", "last").contains("a rewind takes it back"));
  EXPECT_TRUE(Refused("snip", "2").contains("there is no turn 2"));
  EXPECT_TRUE(Refused("snip", "e_nothing").contains("there is no turn e_nothing"));
  Run("second " + std::string(3000, 'y'));
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  EXPECT_TRUE(Refused("snip", first).contains("was compacted"));
}

TEST_F(MarksTest, ASnipDoesNotTakeAPinAway) {
  Script(kAnswers);
  Open(Here());
  Run("the first question");
  Marked("pin", "", "one rule");
  Run("the second question");
  Marked("snip", "2");
  Run("the third question");
  EXPECT_FALSE(LastRequest().contains("the first question"));
  EXPECT_TRUE(LastRequest().contains("one rule"));
}

TEST_F(MarksTest, TheModelListsTurnsAndSnipsOne) {
  Script(R"({"replies":[{"blocks":[{"text":"One."}]},
    {"blocks":[{"call":{"name":"Snip","args":{}}}]},
    {"blocks":[{"call":{"name":"Snip","args":{"turn":"last"}}},
               {"call":{"name":"Snip","args":{"undo":true}}},
               {"call":{"name":"Snip","args":{"turn":"e_none"}}}]},
    {"blocks":[{"call":{"name":"Snip","args":{"turn":"last","undo":true}}}]},
    {"blocks":[{"text":"Done."}]}]})");
  Open(Here("default"));
  Run("a question of old");
  EXPECT_EQ(Run("go").reason, "completed");
  const std::vector<std::string> bodies = Requests();
  ASSERT_EQ(bodies.size(), 5U);
  const auto count = [&](std::size_t at) {
    std::size_t found = 0;
    for (std::size_t pos = 0;
         (pos = bodies[at].find("a question of old", pos)) != std::string::npos; ++pos)
      ++found;
    return found;
  };
  EXPECT_EQ(count(2), 2U) << "the message, and the list";
  EXPECT_EQ(count(3), 2U) << "the list, and what was done";
  EXPECT_TRUE(bodies[3].contains("Name the turn"));
  EXPECT_TRUE(bodies[3].contains("there is no turn e_none"));
  EXPECT_EQ(count(4), 4U);
  const auto snips = heard_->All<protocol::Snip>();
  ASSERT_EQ(snips.size(), 2U);
  EXPECT_EQ(snips[0].by, "model");
}

TEST_F(MarksTest, GatesAreSetShownClearedAndWaivedWithAReason) {
  Script(kAnswers);
  Open(Here());
  Run("first");
  EXPECT_TRUE(Refused("gate", "", "finish soon").contains("a gate is one of finish"));
  Marked("gate", "", "finish test");
  Marked("gate", "", "write read");
  protocol::RunReport report = RunNow();
  ASSERT_EQ(report.gates.size(), 2U);
  EXPECT_EQ(report.gates[0].gate, "finish");
  EXPECT_EQ(report.gates[0].evidence, "test");
  EXPECT_EQ(report.gates[0].state, "not_evaluated");
  EXPECT_FALSE(report.capabilities.may_finish);
  EXPECT_EQ(report.next.code, "gate");
  EXPECT_EQ(Refused("waive", "finish-test"), "a waiver needs a reason");
  EXPECT_EQ(Marked("waive", "finish", "no tests here"), "waived finish-test");
  EXPECT_EQ(Marked("clear", "write-read"), "cleared write-read");
  EXPECT_EQ(Refused("clear", "write-read"), "there is no finding write-read");
  report = RunNow();
  EXPECT_TRUE(report.gates.empty());
  EXPECT_TRUE(report.capabilities.may_finish);
}

TEST_F(MarksTest, TheStateOfAStoredSessionIsToldAndGivenAsACapsule) {
  Script(kAnswers);
  Open(Here());
  Run("first");
  Marked("pin", "", kPinned);
  Marked("gate", "", "finish test");
  const auto sessions = host::MakeLocalSessions(roots_);
  const Result<protocol::RunReport> report =
      client::Await(*sessions, &client::Sessions::Run, session_id_);
  ASSERT_TRUE(report);
  EXPECT_EQ(Encode(*report), Encode(RunNow()));
  const Result<protocol::CapsuleReport> capsule =
      client::Await(*sessions, &client::Sessions::Capsule, session_id_);
  ASSERT_TRUE(capsule);
  const JsonView json(capsule->capsule.text);
  EXPECT_EQ(json["sessionId"].StringOr(""), session_id_);
  EXPECT_EQ(json["generation"].IntOr(0), 1);
  EXPECT_TRUE(capsule->text.contains(kPinned));
  EXPECT_TRUE(capsule->text.contains("finish"));
}

}  // namespace
}  // namespace stet::test
