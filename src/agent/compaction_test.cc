#include "agent/compaction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/scripted_model_fixture.h"
#include "agent/workbench_fixture.h"
#include "base/fs.h"

namespace stet::agent {
namespace {

/// A session with a model of a small window, and enough said to be summed up.
class CompactTest : public WorkbenchTest {
 protected:
  CompactTest() {
    OpenTools();
    model_.facts.context_window = 40'000;
    model_.facts.max_output = 1'000;
    bench_->model = &model_;
  }

  /// What the user and the model say, of about so many bytes.
  void Talk(const std::string& words, std::size_t bytes = 20'000) {
    Append(log::User(words + " " + std::string(bytes / 2, 'u')));
    Append(log::Assistant("answer to " + words + " " + std::string(bytes / 2, 'a')));
  }
  void TalkMuch() {
    for (const char* words : {"the first thing", "the second thing", "the third thing"})
      Talk(words);
  }
  Result<std::optional<Compacted>> Try(std::string_view trigger, bool smallest = false) {
    CompactionWanted wanted{.trigger = trigger, .focus = "", .smallest = smallest};
    return loop_.RunUntilDone(Compact(*bench_, stamp_, std::move(wanted), cancel_.token()));
  }
  /// Where the summary is from; empty when there was no compaction.
  std::string From(std::string_view trigger, bool smallest = false) {
    const Result<std::optional<Compacted>> done = Try(trigger, smallest);
    EXPECT_TRUE(done) << done.error().Text();
    return done && *done ? (*done)->source : "";
  }
  std::string LastSummary() {
    const std::vector<protocol::Compaction> all = All<protocol::Compaction>();
    return all.empty() ? "" : all.back().summary;
  }
  std::size_t BytesAsked(std::size_t call) const {
    const auto& last = std::get<provider::UserInput>(model_.requests.at(call).entries.back());
    return protocol::PlainText(last.blocks).size();
  }

  ScriptedModel model_;
  CancelSource cancel_;
};

TEST_F(CompactTest, WhatAModelSaysStandsBeforeTheFactsOfTheLog) {
  TalkMuch();
  model_.Says("They talk of things.");
  const Result<std::optional<Compacted>> done = Try(trigger::kManual);
  ASSERT_TRUE(done && *done);
  EXPECT_EQ((*done)->source, "model");
  EXPECT_LT((*done)->tokens_after, (*done)->tokens_before);
  const std::vector<protocol::Compaction> compacted = All<protocol::Compaction>();
  ASSERT_EQ(compacted.size(), 1U);
  EXPECT_EQ(compacted[0].trigger, "manual");
  EXPECT_EQ(compacted[0].model, "p/m");
  const std::size_t said = compacted[0].summary.find("They talk of things.");
  const std::size_t facts = compacted[0].summary.find("- the first thing");
  EXPECT_LT(said, facts);
  EXPECT_NE(facts, std::string::npos) << compacted[0].summary;
}

TEST_F(CompactTest, ASummariserThatGivesNothingCostsWordsAndNoFact) {
  TalkMuch();
  std::string again;
  for (int i = 0; i < 50; ++i) again += "I sum it up now.\n";
  const std::vector<std::function<void()>> ways = {
      [&] { model_.fails = provider::FailureKind::kServer; },
      [&] { model_.replies.emplace_back(); }, [&] { model_.Says(" \n "); },
      [&] { model_.Says(again); },
      [&] { model_.Says("No.", std::string(provider::stop::kRefused)); }};
  for (const auto& way : ways) {
    model_.fails.reset();
    model_.replies.clear();
    model_.asked = 0;
    bench_->growth.summary_failures = 0;
    way();
    const std::string leaf = log_->leaf_id().value();
    EXPECT_EQ(From(trigger::kAuto), "log");
    EXPECT_EQ(model_.asked, 1) << "another try would not help";
    EXPECT_EQ(bench_->growth.summary_failures, 1);
    EXPECT_TRUE(LastSummary().contains("- the first thing")) << LastSummary();
    EXPECT_FALSE(All<protocol::Compaction>().back().model);
    ASSERT_TRUE(log_->Rewind(leaf, log_->leaf_id()));
  }
}

TEST_F(CompactTest, WhatIsTooMuchForTheSummariserIsToldItOnceMoreAndShorter) {
  bench_->auxiliary = &model_;  // Which is told of it in one text.
  model_.facts.context_window = 12'000;
  TalkMuch();
  model_.fails = provider::FailureKind::kOverflow;
  model_.when_asked = [&] {
    if (model_.asked == 2) model_.fails.reset();
  };
  model_.Says("A short one.");
  EXPECT_EQ(From(trigger::kAuto), "model");
  EXPECT_EQ(model_.asked, 2);
  EXPECT_LT(BytesAsked(1), BytesAsked(0));
}

TEST_F(CompactTest, ASummariserForWhichEverythingIsTooMuchIsAskedTwice) {
  TalkMuch();
  model_.fails = provider::FailureKind::kTooLarge;
  EXPECT_EQ(From(trigger::kAuto), "log");
  EXPECT_EQ(model_.asked, 2);
}

TEST_F(CompactTest, AModelThatFailedThreeTimesIsAskedAgainOnlyWhenTheUserWantsIt) {
  model_.fails = provider::FailureKind::kServer;
  for (int i = 0; i < 4; ++i) {
    TalkMuch();
    EXPECT_EQ(From(trigger::kAuto), "log");
  }
  EXPECT_EQ(model_.asked, 3);
  model_.fails.reset();
  TalkMuch();
  model_.Says("It works again.");
  EXPECT_EQ(From(trigger::kManual), "model");
  TalkMuch();
  model_.Says("And again.");
  EXPECT_EQ(From(trigger::kAuto), "model") << "one that worked makes up for those that failed";
}

TEST_F(CompactTest, ACancelLeavesTheConversationAsItWas) {
  TalkMuch();
  model_.fails = provider::FailureKind::kCancelled;
  model_.when_asked = [&] { cancel_.Cancel(); };
  for (const std::string_view trigger : {trigger::kManual, trigger::kAuto, trigger::kReactive}) {
    cancel_ = CancelSource();
    EXPECT_EQ(From(trigger), "") << trigger;
  }
  EXPECT_TRUE(All<protocol::Compaction>().empty());
  EXPECT_EQ(bench_->growth.summary_failures, 0) << "the model did nothing wrong";
}

TEST_F(CompactTest, WhereThereIsLittleNothingIsAskedOrWritten) {
  Talk("hello", 100);
  const std::uint64_t before = log_->last_seq();
  EXPECT_EQ(From(trigger::kManual), "");
  EXPECT_EQ(model_.asked, 0);
  EXPECT_EQ(log_->last_seq(), before);
}

TEST_F(CompactTest, TheSmallestKeepsNothingButTheRequestThatIsWorkedOn) {
  TalkMuch();
  const std::string request = Append(log::User("mend the gate"));
  EXPECT_EQ(From(trigger::kReactive, true), "log");
  EXPECT_EQ(model_.asked, 0);
  EXPECT_EQ(All<protocol::Compaction>()[0].keep_after_event_id, request);
  EXPECT_TRUE(LastSummary().contains("word for word:\nmend the gate")) << LastSummary();
}

TEST_F(CompactTest, WhatWasKnownIsNotLostWhenTheNextSummaryFails) {
  TalkMuch();
  model_.Says("The gate is broken.");
  EXPECT_EQ(From(trigger::kAuto), "model");
  TalkMuch();
  model_.fails = provider::FailureKind::kServer;
  EXPECT_EQ(From(trigger::kAuto), "log");
  EXPECT_TRUE(LastSummary().contains("What was known before:")) << LastSummary();
  EXPECT_TRUE(LastSummary().contains("The gate is broken."));
}

TEST_F(CompactTest, ALogThatTakesNothingFailsItBeforeTheModelIsAsked) {
  TalkMuch();
  ASSERT_TRUE(bench_->conversation.Update(*log_));
  CloseLog();
  EXPECT_FALSE(Try(trigger::kAuto));
  EXPECT_EQ(model_.asked, 0);
}

TEST_F(CompactTest, AFileThatIsAttachedAgainShowsNoSecret) {
  bench_->redactor = Redactor(std::map<std::string, std::string>{{"vault:TOKEN", "sesame-open"}});
  const std::string path = temp_.Sub("a.env");
  ASSERT_TRUE(ReplaceFile(path, "key=sesame-open\n", Durable::kNo));
  protocol::FileFact fact;
  fact.op = "write";
  fact.path = path;
  fact.tool_call_id = "tc_1";
  TalkMuch();
  Append({.payload = fact});
  EXPECT_EQ(From(trigger::kAuto), "log");
  std::string told;
  for (const protocol::HarnessItem& item : All<protocol::HarnessItem>()) told += item.item.content;
  EXPECT_TRUE(told.contains("key=[vault:TOKEN]")) << told;
  EXPECT_FALSE(told.contains("sesame"));
}

TEST(RoomTest, AReplyHasItsRoomHoweverTheThresholdIsSet) {
  provider::Model model;
  model.context_window = 100'000;
  model.max_output = 8'000;
  EXPECT_EQ(RoomFor(model, {.threshold_permille = 800}).threshold, 80'000);
  EXPECT_EQ(RoomFor(model, {.threshold_permille = 1000}).threshold, 92'000);
  model.max_output = 90'000;
  EXPECT_EQ(RoomFor(model, {}).most, 80'000) << "at most so much is held back for a reply";
  model.context_window = 0;
  EXPECT_GT(RoomFor(model, {}).available(), 0) << "a window that is not known";
}

}  // namespace
}  // namespace stet::agent
