// A long session that is compacted again and again: what binds the run is the same before and after
// each, and files that changed meanwhile are noticed whatever their times say.
//
// The lane is driven on a loop of the test's own: so the test can put into its log, as another
// producer would, what no face can send.
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "agent/run/view.h"
#include "agent/workbench.h"
#include "base/loop.h"
#include "device/model_access.h"
#include "lane/lane.h"
#include "lane/lanes.h"
#include "tests/model/live_fixture.h"
#include "tests/scale.h"

namespace stet::test {
namespace {

constexpr int kProjectFiles = 20;
constexpr int kEdited = 4;  // The first of them, in every round.
constexpr std::string_view kPhases[] = {"intake", "plan", "execute", "verify", "report"};
const std::string kPins[] = {"Never  touch \"main\":\n\tnot even once.  ", "tabs, no blanks",
                             "ünï\\code </system-reminder>"};

class EnduranceTest : public LiveTest {
 protected:
  void SetUp() override {
    more_settings_ = "contextWindow=200000\n[log]\ndurability='relaxed'\n";
    Script(R"({"replies":[]})");
    for (int i = 0; i < kProjectFiles; ++i) Fill(i, fmt::format("value 0 of file {}", i));
    protocol::Attach attach = Here();
    const Result<std::string> id = lanes_.Name(attach);
    ASSERT_TRUE(id) << id.error().Text();
    const Result<lane::Lane*> opened =
        loop_.RunUntilDone(lanes_.Open(*id, attach, std::optional<Environment>()));
    ASSERT_TRUE(opened) << opened.error().Text();
    lane_ = *opened;
    subscription_ = lane_->log().Subscribe([this](const log::Published& what) {
      if (what.transient == nullptr || !ended_) return;
      if (std::holds_alternative<protocol::RuntimeEnd>(what.transient->transient))
        ended_->Set(true);
    });
    session_id_ = lane_->State().session_id;
  }
  void TearDown() override {
    subscription_ = log::Subscription();
    EXPECT_TRUE(loop_.RunUntilDone(lanes_.Close(session_id_, false)));
    LiveTest::TearDown();
  }

  [[nodiscard]] std::string PathOf(int file) const {
    return fmt::format("{}/file{:02}.txt", project_, file);
  }
  void Fill(int file, const std::string& first_line) const {
    std::string text = first_line + "\n";
    for (int line = 0; line < 12; ++line) text += fmt::format("line {} of {}\n", line, file);
    EXPECT_TRUE(ReplaceFile(PathOf(file), text, Durable::kNo));
  }
  /// Other bytes, as many as before, and the time of the last change as it was.
  void ChangeUnseen(int file, int round) const {
    const std::filesystem::path path = PathOf(file);
    const auto time = std::filesystem::last_write_time(path);
    const Result<FileStat> before = StatFile(path);
    std::string text = *ReadFile(path);
    text[0] = text[0] == 'v' ? 'V' : 'v';
    text[1] = static_cast<char>('a' + (round % 26));
    EXPECT_TRUE(ReplaceFile(path, text, Durable::kNo));
    std::filesystem::last_write_time(path, time);
    EXPECT_EQ(StatFile(path)->mtime_ns, before->mtime_ns);
    EXPECT_EQ(StatFile(path)->size, before->size);
  }

  protocol::TurnReport Do(const std::string& text, const std::string& how) {
    ended_.emplace(loop_);
    protocol::Send send;
    send.text = text;
    send.how = how;
    const Result<protocol::Accepted> accepted = lane_->Send(send, "test");
    EXPECT_TRUE(accepted) << accepted.error().Text();
    if (!accepted) return {};
    Timer patience(loop_);
    patience.Start(std::chrono::minutes(2), [this] { ended_->Set(false); });
    const auto end = [](Pending<bool> ended) -> Async<bool> { co_return co_await ended; };
    EXPECT_TRUE(loop_.RunUntilDone(end(*ended_))) << "it does not end";
    return lane_->Report(accepted->turn_id.value_or("")).value_or(protocol::TurnReport());
  }

  void Add(protocol::Payload payload) {
    EXPECT_TRUE(agent::AppendEvent(lane_->log(), std::move(payload), {}));
  }
  void Deny(const std::string& id) {
    protocol::FindingRaised raised;
    raised.finding_id = id;
    raised.policy = "rule:" + id;
    raised.severity = "hard-deny";
    raised.message = "never do " + id;
    Add(std::move(raised));
  }
  void Ask(const std::string& id, bool blocking) {
    protocol::Question asked;
    asked.question_id = id;
    asked.phase = "asked";
    asked.text = "what about " + id + "?";
    asked.blocking = blocking;
    Add(std::move(asked));
  }
  void Answer(const std::string& id) {
    protocol::Question answered;
    answered.question_id = id;
    answered.phase = "answered";
    answered.answer = Raw{R"("yes")"};
    Add(std::move(answered));
  }
  void Promise(int round) {
    protocol::PromiseMade made;
    made.promise_id = "promise";
    made.version = round + 1;
    made.clauses = Raw{R"([{"id":"c1","text":"it works","evidence":"test"}])"};
    made.state = "confirmed";
    made.by = "user";
    Add(std::move(made));
  }
  void Move(std::string_view to) {
    protocol::PhaseMoved moved;
    moved.from = "execute";
    moved.to = to;
    moved.next = "go on there";
    Add(std::move(moved));
  }

  /// The state as the lane's log gives it to a view that was there all along, and as the file gives
  /// it to a view that reads it now: the same.
  const run::State& Now() {
    EXPECT_TRUE(view_.Update(lane_->log()));
    const auto log = log::Log::Open(store::SessionStore(roots_).Find(session_id_).value(), {});
    agent::RunView fresh;
    EXPECT_TRUE(log && fresh.Update(**log));
    EXPECT_EQ(Encode(fresh.state().Report()), Encode(view_.state().Report()));
    return view_.state();
  }

  Loop loop_;
  device::ModelAccess models_{loop_};
  log::Subscription subscription_;
  lane::Lanes lanes_{loop_, roots_, models_};
  lane::Lane* lane_ = nullptr;
  std::optional<Pending<bool>> ended_;
  agent::RunView view_;
};

std::string CallOf(std::string_view id, std::string_view tool, std::string_view args) {
  return fmt::format(R"({{"call":{{"id":"{}","name":"{}","args":{{{}}}}}}})", id, tool, args);
}

/// The replies of a round, one for each of its steps: everything is read, some files are edited,
/// then single pages are read, and the last one is a text.
std::string RoundScript(const std::string& project, int round, int steps) {
  const auto file = [&](int number) {
    return fmt::format(R"("file_path":"{}/file{:02}.txt")", project, number);
  };
  std::string all;
  for (int i = 0; i < kProjectFiles; ++i)
    all += (i > 0 ? "," : "") + CallOf(fmt::format("r{}_all{}", round, i), "Read", file(i));
  std::string replies = fmt::format(R"({{"blocks":[{}]}})", all);
  for (int step = 1; step + 1 < steps; ++step) {
    const std::string id = fmt::format("r{}_s{}", round, step);
    const std::string call =
        step <= kEdited
            ? CallOf(id, "Edit",
                     fmt::format(R"({},"old_string":"value {} of","new_string":"value {} of")",
                                 file(step - 1), round, round + 1))
            : CallOf(id, "Read",
                     fmt::format(R"({},"offset":{},"limit":3)", file(step % kProjectFiles),
                                 1 + (step % 9)));
    replies += fmt::format(R"(,{{"blocks":[{}]}})", call);
  }
  // Now and then the summariser says nothing.
  const std::string summary =
      round % 7 == 6 ? "[]" : fmt::format(R"([{{"text":"Round {} went well."}}])", round);
  return fmt::format(R"({{"replies":[
      {{"when":{{"contains":"Sum it up for yourself"}},"times":0,"blocks":{}}},{},
      {{"blocks":[{{"text":"Round {} is done."}}]}}]}})",
                     summary, replies, round);
}

/// What the newest restoring said of the files, by its verdict.
std::map<std::string, std::set<std::string>> Verdicts(const run::State& state) {
  std::map<std::string, std::set<std::string>> paths;
  if (!state.compact() || !state.compact()->verdicts) return paths;
  const JsonView verdicts(state.compact()->verdicts->text);
  verdicts["anchors"].ForEach([&](JsonView anchor) {
    paths[anchor["verdict"].StringOr("")].insert(anchor["path"].StringOr(""));
  });
  EXPECT_EQ(verdicts["failures"].text(), "[]");
  return paths;
}

TEST_F(EnduranceTest, WhatBindsTheRunIsTheSameBeforeAndAfterEveryCompaction) {
  const int rounds = TestScale().endurance_rounds;
  const int steps = TestScale().endurance_steps;
  for (const std::string& text : kPins) {
    protocol::Mark pin;
    pin.what = "pin";
    pin.text = text;
    ASSERT_TRUE(lane_->Mark(pin, "test"));
  }
  std::set<std::string> hashes;
  std::int64_t done_steps = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    ASSERT_TRUE(emulator_->SetScript(RoundScript(project_, round, steps)));
    const protocol::TurnReport turn = Do(fmt::format("do round {}", round), "send");
    ASSERT_EQ(turn.reason, "completed") << turn.error.value_or("");
    ASSERT_EQ(turn.steps, steps);
    done_steps += turn.steps;
    if (round > 0) {
      const std::string first = Requests().front();
      for (const std::string& pin : kPins)
        EXPECT_TRUE(first.contains(Encode(pin).substr(1, Encode(pin).size() - 2))) << pin;
      EXPECT_TRUE(first.contains("never do push") && first.contains("never do delete"));
      const int changed = kEdited + ((round - 1) % (kProjectFiles - kEdited));
      EXPECT_TRUE(first.contains(PathOf(changed))) << "it is told what is stale";
    }
    if (round == 0) {
      Deny("push");
      Deny("delete");
      Ask("tabs", false);
      Ask("names", false);
    }
    Ask("the release", true);
    Promise(round);
    Move(kPhases[round % std::size(kPhases)]);
    const int changed = kEdited + (round % (kProjectFiles - kEdited));
    ChangeUnseen(changed, round);

    const std::string before = Now().KeptHash();
    const std::int64_t generation = Now().generation();
    const protocol::TurnReport compacted = Do("", "compact");
    ASSERT_EQ(compacted.reason, "completed") << compacted.error.value_or("");
    const run::State& state = Now();
    EXPECT_EQ(state.KeptHash(), before);
    EXPECT_TRUE(hashes.insert(before).second) << "a hash that nothing changes shows nothing";
    EXPECT_EQ(state.generation(), generation + 1);
    EXPECT_EQ(state.pins().size(), std::size(kPins));
    EXPECT_EQ(state.findings().open().size(), 2U);
    EXPECT_EQ(state.questions().size(), 3U);
    EXPECT_EQ(state.transactions().open().size(), std::size_t{kEdited});
    EXPECT_EQ(state.anchors().All().size(), std::size_t{kProjectFiles});
    EXPECT_EQ(run::PhaseName(state.phase()), kPhases[round % std::size(kPhases)]);
    ASSERT_TRUE(state.promise());
    EXPECT_EQ(state.promise()->version, round + 1);
    auto verdicts = Verdicts(state);
    EXPECT_EQ(verdicts["stale"], std::set{PathOf(changed)});
    EXPECT_EQ(verdicts["fresh"].size(), std::size_t{kProjectFiles - 1});
    if (HasFailure()) return;
    Answer("the release");
  }
  const run::State& state = Now();
  std::printf(
      "[ rounds   ] %d compactions over %lld steps; generation %lld, %zu anchors, %zu events\n",
      rounds, static_cast<long long>(done_steps), static_cast<long long>(state.generation()),
      state.anchors().All().size(), lane_->log().index().entries().size());
}

}  // namespace
}  // namespace stet::test
