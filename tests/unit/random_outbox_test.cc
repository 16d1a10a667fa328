// Random histories of a session in which tasks start and end, hooks say things, the leaf is moved,
// and the process dies at any point: whatever happened, what is owed is what a plain reading of the
// log says, and after paying every path has exactly one item for each end, and every log one for
// each owed event.
#include <algorithm>
#include <map>
#include <set>

#include "agent/outbox_fixture.h"
#include "tests/scale.h"

namespace stet::agent {
namespace {

using Texts = std::vector<std::string>;

class RandomOutboxTest : public OutboxTest {
 protected:
  /// What is owed on the path to the leaf, by the words of the format alone: nothing incremental,
  /// no index of keys.
  Texts Reference() {
    std::set<std::string> calls_here;
    std::map<std::string, std::vector<log::Ordinal>> paid_here;
    std::set<std::string> paid_anywhere;
    std::set<log::Ordinal> path;
    for (const log::Ordinal at : log::PathTo(log_->index(), log_->index().leaf())) path.insert(at);
    std::map<std::string, std::string> call_of;
    std::vector<std::pair<log::Ordinal, protocol::Event>> all;
    for (log::Ordinal at = 0; at < log_->index().entries().size(); ++at)
      all.emplace_back(at, log_->EventAt(at).value());
    for (const auto& [at, event] : all) {
      if (const auto* message = std::get_if<protocol::AssistantMessage>(&event.payload)) {
        for (const protocol::Block& block : message->message.blocks) {
          const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
          if (call != nullptr && path.contains(at)) calls_here.insert(call->tool_call_id);
        }
      } else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload)) {
        if (!item->carries) continue;
        for (const protocol::Carried& one : *item->carries) {
          paid_anywhere.insert(one.Key());
          if (path.contains(at)) paid_here[one.Key()].push_back(at);
        }
      } else if (const auto* task = std::get_if<protocol::Task>(&event.payload)) {
        if (task->phase == "start") call_of[task->task_id] = task->tool_call_id.value_or("");
      }
    }
    Texts due;
    for (const auto& [at, event] : all) {
      if (const auto* task = std::get_if<protocol::Task>(&event.payload)) {
        if (task->ends() && calls_here.contains(call_of[task->task_id]) &&
            paid_here[task->task_id].empty())
          due.push_back(task->task_id);
      } else if (const auto* owed = std::get_if<protocol::Owed>(&event.payload)) {
        if (!paid_anywhere.contains(owed->owed_id)) due.push_back(owed->text);
      }
    }
    return due;
  }

  void MoveSomewhere() {
    std::vector<log::Ordinal> rests;
    for (log::Ordinal at = 0; at < log_->index().entries().size(); ++at) {
      if (log_->index().entries()[at].in_tree() && log::IsRestPoint(log_->index(), at))
        rests.push_back(at);
    }
    if (rests.empty()) return;
    const std::vector<log::Ordinal> leaves = log::Tree(log_->index()).Leaves();
    if (random_.Below(2) == 0)
      BranchTo(*log_->IdOf(leaves[random_.Below(leaves.size())]));
    else
      RewindTo(*log_->IdOf(rests[random_.Below(rests.size())]));
  }

  void OneThing() {
    switch (random_.Below(9)) {
      case 0: Append(*log_, log::User("more")); break;
      case 1:
      case 2: {
        const std::string id = "shell-" + std::to_string(++tasks_);
        StartTask(id);
        running_.push_back(id);
        break;
      }
      case 3:
      case 4: {
        if (running_.empty()) break;
        const std::size_t which = random_.Below(running_.size());
        const bool lost = random_.Below(4) == 0;
        ASSERT_TRUE(EndTask(running_[which], random_.Below(2) == 0, lost ? "lost" : "end"));
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
        break;
      }
      case 5: ASSERT_TRUE(OweText("word " + std::to_string(++words_))); break;
      case 6: MoveSomewhere(); break;
      case 7:
        ASSERT_TRUE(Pay());
        EXPECT_EQ(Reference(), Texts());
        break;
      case 8: Reopen(random_.Below(2) == 0); break;
    }
  }

  int tasks_ = 0;
  int words_ = 0;
  std::vector<std::string> running_;
};

TEST_F(RandomOutboxTest, WhatIsOwedIsWhatTheLogSaysAndIsPaidOnce) {
  constexpr int kThings = 60;
  for (int run = 0; run < TestScale().outbox_runs && !HasFailure(); ++run) {
    SCOPED_TRACE(testing::Message() << "run " << run);
    bench_.reset();
    asks_.reset();
    log_.reset();
    ASSERT_TRUE(RemoveTree(Dir()));
    log_ = Create();
    MakeBench();
    running_.clear();
    Append(*log_, log::User("go"));
    for (int i = 0; i < kThings && !HasFailure(); ++i) {
      OneThing();
      if (random_.Below(3) != 0) continue;  // Several things are looked at together, too.
      EXPECT_EQ(Due(), Reference());
      Outbox fresh;
      EXPECT_EQ(DueIn(fresh), Due());
    }
    // Every path, to its leaf, has at most one item for each thing.
    for (const log::Ordinal leaf : log::Tree(log_->index()).Leaves()) {
      BranchTo(*log_->IdOf(leaf));
      ASSERT_TRUE(Pay());
      EXPECT_EQ(Due(), Texts());
      Texts paid = PaidHere();
      std::ranges::sort(paid);
      EXPECT_EQ(std::ranges::adjacent_find(paid), paid.end()) << "told twice";
    }
  }
}

}  // namespace
}  // namespace stet::agent
