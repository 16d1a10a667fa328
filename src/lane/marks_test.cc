#include "lane/marks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/pins.h"
#include "agent/scripted_model_fixture.h"
#include "agent/workbench_fixture.h"
#include "lane/fixed_turns_fixture.h"
#include "run/findings.h"

namespace stet::lane {
namespace {

class LaneMarksTest : public agent::WorkbenchTest {
 protected:
  LaneMarksTest() { bench_->model = &model_; }

  Result<std::string> Mark(const std::string& what, const std::string& id = "",
                           const std::string& text = "") {
    protocol::Mark mark;
    mark.what = what;
    mark.id = id;
    mark.text = text;
    return marks_.Mark(mark, "tester");
  }
  std::string Marked(const std::string& what, const std::string& id = "",
                     const std::string& text = "") {
    const Result<std::string> done = Mark(what, id, text);
    EXPECT_TRUE(done) << done.error().Text();
    return done.value_or("");
  }
  /// What is refused leaves nothing in the log.
  Code Refused(const std::string& what, const std::string& id = "", const std::string& text = "") {
    const std::uint64_t before = log_->last_seq();
    const Result<std::string> done = Mark(what, id, text);
    EXPECT_FALSE(done) << *done;
    EXPECT_EQ(log_->last_seq(), before) << what << " " << id << " " << text;
    return done ? Code::kIo : done.error().code;
  }
  std::string PinId(std::size_t number = 0) {
    const Result<agent::Pins> pins = agent::ReadPins(*log_);
    return pins && number < pins->open.size() ? pins->open[number].pin_id : "";
  }
  /// Gives the id of the user's message.
  std::string Talk(const std::string& words) {
    std::string id = Append(log::User(words));
    Append(log::Assistant("I hear " + words));
    return id;
  }
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    for (const protocol::HarnessItem& item : All<protocol::HarnessItem>())
      told.push_back(item.item.content);
    return told;
  }

  agent::ScriptedModel model_;
  FixedTurns turns_;
  LaneMarks marks_{*bench_, turns_};
};

// Pins.

TEST_F(LaneMarksTest, APinIsToldAtRestAndOwedWhileATurnRuns) {
  const std::string said = Marked("pin", "", "be kind");
  EXPECT_EQ(said, "pinned as " + PinId());
  ASSERT_EQ(Told().size(), 1U);
  EXPECT_TRUE(Told()[0].ends_with(":\nbe kind")) << Told()[0];
  turns_.works = true;
  Marked("pin", "", "be quick");
  Marked("unpin", PinId());
  EXPECT_EQ(Told().size(), 1U);
  const std::vector<protocol::Owed> owed = All<protocol::Owed>();
  ASSERT_EQ(owed.size(), 2U);
  EXPECT_TRUE(owed[0].text.ends_with("be quick"));
  EXPECT_TRUE(owed[1].text.ends_with("holds no longer.")) << owed[1].text;
}

TEST_F(LaneMarksTest, APinThatSaysNothingOrTooMuchIsRefused) {
  EXPECT_EQ(Refused("pin", "", " \n\t"), Code::kInvalid);
  EXPECT_EQ(Refused("pin", "", std::string(agent::kMaxPinBytes + 1, 'x')), Code::kInvalid);
  for (int i = 0; i < 4; ++i) Marked("pin", "", std::string(agent::kMaxPinBytes, 'x'));
  EXPECT_EQ(Refused("pin", "", "x"), Code::kInvalid) << "all together";
  Marked("unpin", "1");
  Marked("pin", "", "x");
}

TEST_F(LaneMarksTest, InASmallWindowThereIsLessToPin) {
  model_.facts.context_window = 100;
  Marked("pin", "", std::string(40, 'x'));
  EXPECT_EQ(Refused("pin", "", "x"), Code::kInvalid);
}

TEST_F(LaneMarksTest, APinIsNamedByItsNumberOrABeginningThatOnlyOneHas) {
  Marked("pin", "", "one");
  Marked("pin", "", "two");
  EXPECT_EQ(Refused("unpin", ""), Code::kNotFound);
  EXPECT_EQ(Refused("unpin", "0"), Code::kNotFound);
  EXPECT_EQ(Refused("unpin", "3"), Code::kNotFound);
  EXPECT_EQ(Refused("unpin", PinId().substr(0, 4)), Code::kConflict);
  const std::string second = PinId(1);
  EXPECT_EQ(Marked("unpin", "2"), "unpinned " + second);
  EXPECT_EQ(Refused("unpin", second), Code::kNotFound) << "it is gone";
  const std::string first = PinId();
  EXPECT_EQ(Marked("unpin", first.substr(0, first.size() - 1)), "unpinned " + first);
}

TEST_F(LaneMarksTest, APinThatCannotBeToldIsNotMade) {
  Append(log::User("go"));
  Append(log::Assistant("I look", {"call"}));
  EXPECT_EQ(Refused("pin", "", "be kind"), Code::kBusy) << "its item would stand before a result";
  EXPECT_EQ(PinId(), "");
}

TEST_F(LaneMarksTest, PinsThatAreNotSeenAnyMoreAreToldOnceBeforeTheNextMessage) {
  const std::string leaf = Append(log::User("go"));
  Append(log::Assistant("I go"));
  Marked("pin", "", "be kind");
  ASSERT_TRUE(marks_.TellOfPins({}));
  EXPECT_EQ(Told().size(), 1U) << "it is seen";
  ASSERT_TRUE(log_->Rewind(leaf, log_->leaf_id()));
  ASSERT_TRUE(marks_.TellOfPins({}));
  EXPECT_EQ(Told().size(), 1U) << "there was no doubt";
  marks_.DoubtPins();
  ASSERT_TRUE(marks_.TellOfPins({}));
  ASSERT_TRUE(marks_.TellOfPins({}));
  EXPECT_EQ(Told().size(), 2U);
}

TEST_F(LaneMarksTest, PinsThatCouldNotBeToldAreToldTheNextTime) {
  const std::string leaf = Append(log::User("go"));
  Marked("pin", "", "be kind");
  ASSERT_TRUE(log_->Rewind(leaf, log_->leaf_id()));
  Append(log::Assistant("I look", {"call"}));
  EXPECT_FALSE(marks_.TellOfPins({}));
  Append(log::ResultOf("call"));
  ASSERT_TRUE(marks_.TellOfPins({}));
  EXPECT_EQ(Told().size(), 2U);
}

// Turns that are left out.

TEST_F(LaneMarksTest, ATurnIsSnippedAndShownAgain) {
  const std::string first = Talk("one");
  const std::string through = log_->leaf_id().value();
  Talk("two");
  EXPECT_TRUE(Marked("snip", first).ends_with("unsnip " + first + " shows it again"));
  EXPECT_EQ(Marked("unsnip", first), "shown again: \"one\"");
  const std::vector<protocol::Snip> snips = All<protocol::Snip>();
  ASSERT_EQ(snips.size(), 2U);
  EXPECT_EQ(snips[0].from, first);
  EXPECT_EQ(snips[0].through, through);
  EXPECT_EQ(snips[0].by, "tester");
  EXPECT_EQ(snips[1].undo, true);
}

TEST_F(LaneMarksTest, WhatCannotBeSnippedIsRefused) {
  EXPECT_EQ(Refused("snip", "last"), Code::kNotFound) << "there is none";
  const std::string first = Talk("one");
  Talk("two");
  EXPECT_EQ(Refused("snip", "9"), Code::kNotFound);
  EXPECT_EQ(Refused("snip", "evt_none"), Code::kNotFound);
  EXPECT_EQ(Refused("snip", ""), Code::kNotFound);
  EXPECT_EQ(Refused("snip", log_->leaf_id().value()), Code::kNotFound) << "it begins no turn";
  EXPECT_EQ(Refused("snip", "last"), Code::kInvalid) << "no message follows it";
  EXPECT_EQ(Refused("unsnip", first), Code::kInvalid);
  turns_.works = true;
  EXPECT_EQ(Refused("snip", first), Code::kBusy);
  EXPECT_EQ(Refused("unsnip", first), Code::kBusy);
  turns_.works = false;
  Marked("snip", first);
  EXPECT_EQ(Refused("snip", first), Code::kInvalid) << "it is snipped";
}

TEST_F(LaneMarksTest, AModelSnipsFinishedTurnsWhileItsOwnRuns) {
  turns_.works = true;
  Talk("only");
  EXPECT_EQ(marks_.SnipByModel(std::nullopt, false).value(),
            "There is no finished turn before this one.");
  const std::string own = Talk("the turn that runs");
  const Result<std::string> list = marks_.SnipByModel(std::nullopt, false);
  EXPECT_TRUE(list->contains("  only\n")) << *list;
  EXPECT_FALSE(list->contains("the turn that runs")) << *list;
  EXPECT_EQ(marks_.SnipByModel(own, false).error().code, Code::kInvalid);
  ASSERT_TRUE(marks_.SnipByModel("1", false));
  EXPECT_TRUE(marks_.SnipByModel(std::nullopt, false)->contains("(snipped)"));
  EXPECT_EQ(All<protocol::Snip>()[0].by, run::kByModel);
  EXPECT_TRUE(marks_.SnipByModel("last", true));
}

// Gates and findings.

TEST_F(LaneMarksTest, AGateIsAFindingOfTheUsers) {
  EXPECT_EQ(Marked("gate", "", "finish  test"), "gate finish-test is set");
  EXPECT_EQ(Marked("gate", "", "outside-write"), "gate outside-write is set");
  const auto raised = All<protocol::FindingRaised>();
  ASSERT_EQ(raised.size(), 2U);
  EXPECT_EQ(raised[0].policy, "gate:finish-test");
  EXPECT_EQ(raised[0].severity, run::severity::kEvidence);
  EXPECT_EQ(raised[0].subject->text, R"({"gate":"finish","evidence":"test"})");
  EXPECT_EQ(raised[1].severity, run::severity::kSoftDeny);
  EXPECT_EQ(raised[1].subject->text, R"({"gate":"outside-write"})");
}

TEST_F(LaneMarksTest, WhatIsNoGateIsRefusedWithThoseThatThereAre) {
  for (const char* text :
       {"", "finish", "test", "finish luck", "outside-write test", "finish-test"})
    EXPECT_EQ(Refused("gate", "", text), Code::kInvalid) << text;
  EXPECT_TRUE(Mark("gate", "", "luck").error().message.contains("finish, write, run"));
}

TEST_F(LaneMarksTest, AFindingIsClearedOrWaivedWithAReason) {
  Marked("gate", "", "finish test");
  Marked("gate", "", "finish build");
  EXPECT_EQ(Refused("clear", "finish"), Code::kConflict);
  EXPECT_EQ(Refused("clear", "run-test"), Code::kNotFound);
  EXPECT_EQ(Refused("waive", "finish-t", "  "), Code::kInvalid);
  EXPECT_EQ(Marked("waive", "finish-t", "there are none"), "waived finish-test");
  EXPECT_EQ(Marked("clear", "finish"), "cleared finish-build") << "the other one is closed";
  EXPECT_EQ(Refused("clear", "finish-build"), Code::kNotFound);
  EXPECT_EQ(All<protocol::Waiver>()[0].by, "tester");
  EXPECT_EQ(All<protocol::FindingCleared>()[0].by, "tester");
}

TEST_F(LaneMarksTest, WhatIsNoMarkIsRefused) { EXPECT_EQ(Refused("paint", "red"), Code::kInvalid); }

}  // namespace
}  // namespace stet::lane
