#include "agent/room.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/scripted_model_fixture.h"
#include "agent/workbench_fixture.h"

namespace stet::agent {
namespace {

class MakeRoomTest : public WorkbenchTest {
 protected:
  MakeRoomTest() {
    OpenTools();
    model_.facts.context_window = 40'000;
    model_.facts.max_output = 1'000;
    model_.fails = provider::FailureKind::kServer;  // Summaries are made of the log.
    bench_->model = &model_;
    Append(log::User("go"));
  }

  void Use(const ContextRules& rules) {
    bench_->settings =
        CurrentSettings({.rules = {.mode = policy::Mode::kBypass}, .context = rules});
  }
  /// A step of the model with one call for each text, which is its result.
  void Step(const std::string& name, const std::vector<std::string>& results) {
    std::vector<std::string> calls;
    for (std::size_t i = 0; i < results.size(); ++i) calls.push_back(fmt::format("{}.{}", name, i));
    Append(log::Assistant("I look", calls));
    for (std::size_t i = 0; i < results.size(); ++i) {
      protocol::ToolResult result;
      result.tool_call_id = calls[i];
      result.content = Raw{Encode(protocol::Blocks{protocol::TextBlock{.text = results[i]}})};
      Append({.payload = result});
    }
  }
  /// A message of the user's, of about so many tokens.
  void Say(std::int64_t tokens) {
    Append(log::User(std::string(static_cast<std::size_t>(bench_->tokens.BytesOf(tokens)), 'u')));
    Append(log::Assistant("I see."));
  }
  void Make() {
    const Status made = loop_.RunUntilDone(MakeRoom(*bench_, stamp_, cancel_.token()));
    ASSERT_TRUE(made) << made.error().Text();
  }
  std::vector<std::string> Triggers() {
    std::vector<std::string> triggers;
    for (const protocol::Compaction& one : All<protocol::Compaction>())
      triggers.push_back(one.trigger);
    return triggers;
  }

  using Texts = std::vector<std::string>;

  ScriptedModel model_;
  CancelSource cancel_;
};

TEST_F(MakeRoomTest, TheLargestResultOfAStepGivesWayOnceAndCanBeReadBack) {
  const std::string large = std::string(60'000, 'x') + " the end";
  Step("s", {"small", large});
  Make();
  Make();
  const std::vector<protocol::ContentReplacement> replaced = All<protocol::ContentReplacement>();
  ASSERT_EQ(replaced.size(), 1U);
  EXPECT_EQ(replaced[0].by, "result_budget");
  EXPECT_EQ(replaced[0].event_ids, protocol::Texts{log_->leaf_id().value()});
  EXPECT_EQ(log_->blobs().Get(replaced[0].blob.value()).value(), large);
  EXPECT_TRUE(replaced[0].preview->contains("the end"));
  EXPECT_TRUE(replaced[0].preview->contains("blob:" + *replaced[0].blob));
}

TEST_F(MakeRoomTest, OldResultsGiveWayTogetherAndLate) {
  for (int i = 0; i < 18; ++i) Step(fmt::format("s{}", i), {std::string(3'500, 'x')});
  Make();
  EXPECT_TRUE(All<protocol::ContentReplacement>().empty()) << "there is room";
  for (int i = 18; i < 30; ++i) Step(fmt::format("s{}", i), {std::string(3'500, 'x')});
  Make();
  Make();
  const std::vector<protocol::ContentReplacement> replaced = All<protocol::ContentReplacement>();
  EXPECT_EQ(replaced.size(), 18U) << "all but those of the last twelve steps, once";
  for (const protocol::ContentReplacement& one : replaced) EXPECT_EQ(one.by, "micro_compaction");
  EXPECT_EQ(Triggers(), Texts());
}

TEST_F(MakeRoomTest, WithoutLeaveNothingButTheBudgetIsKept) {
  Use({.auto_compact = false});
  Say(36'000);
  Step("s", {std::string(60'000, 'x')});
  Make();
  EXPECT_EQ(All<protocol::ContentReplacement>().size(), 1U);
  EXPECT_EQ(Triggers(), Texts());
}

TEST_F(MakeRoomTest, AFullWindowIsCompactedOnceUntilAModelHasAnswered) {
  Say(20'000);
  Say(16'000);
  Make();
  EXPECT_EQ(Triggers(), Texts{"auto"});
  Say(20'000);
  Say(20'000);
  Make();
  EXPECT_EQ(Triggers(), Texts{"auto"}) << "the first one has not been seen to help";
  LearnTokens(*bench_, std::nullopt);
  Make();
  EXPECT_EQ(Triggers(), (Texts{"auto", "auto"}));
}

TEST_F(MakeRoomTest, WhatGrowsFastIsCompactedBeforeItIsFull) {
  Use({.threshold_permille = 950});
  Say(10'000);
  Make();
  Say(13'000);
  Say(13'000);
  Make();
  EXPECT_EQ(Triggers(), Texts{"predictive"});
}

TEST_F(MakeRoomTest, ACompactionThatWasCancelledIsMadeByTheNextTurn) {
  Say(20'000);
  Say(16'000);
  model_.when_asked = [&] { cancel_.Cancel(); };
  Make();
  EXPECT_EQ(Triggers(), Texts());
  model_.when_asked = nullptr;
  cancel_ = CancelSource();
  Make();
  EXPECT_EQ(Triggers(), Texts{"auto"});
}

TEST_F(MakeRoomTest, WhatTheServerCountedIsWhatCounts) {
  Say(10'000);
  Make();
  protocol::Usage usage;
  usage.input = 1'000;
  usage.cache_read = 19'000;
  LearnTokens(*bench_, usage);
  EXPECT_EQ(bench_->growth.last, 20'000);
  EXPECT_EQ(bench_->tokens.reported(), 20'000);
}

TEST_F(MakeRoomTest, ALogThatTakesNothingFailsIt) {
  Step("s", {std::string(60'000, 'x')});
  ASSERT_TRUE(bench_->conversation.Update(*log_));
  CloseLog();
  EXPECT_FALSE(loop_.RunUntilDone(MakeRoom(*bench_, stamp_, {})));
}

}  // namespace
}  // namespace stet::agent
