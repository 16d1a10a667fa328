// OutboxTest: a log with tasks that start and end, and what a model would be told of them.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/outbox.h"
#include "agent/workbench_fixture.h"
#include "log/tree.h"

namespace stet::agent {

class OutboxTest : public WorkbenchTest {
 protected:
  /// A step that starts a task: its message, the start, and its result.
  void StartTask(const std::string& task_id) {
    const std::string call = "call_" + task_id;
    Append(*log_, log::Assistant("I start it", {call}));
    protocol::Task start;
    start.task_id = task_id;
    start.kind = "shell";
    start.phase = "start";
    start.tool_call_id = call;
    Append(*log_, {.payload = start});
    Append(*log_, log::ResultOf(call));
  }
  Status EndTask(const std::string& task_id, bool tells, const std::string& phase = "end") {
    protocol::Task end;
    end.task_id = task_id;
    end.kind = "shell";
    end.phase = phase;
    if (phase == "end") {
      end.status = "completed";
      end.exit = 0;
    }
    return AppendTaskEnd(*bench_, end, tells, {});
  }
  Status OweText(const std::string& text, std::string_view origin = "hook") {
    return Owe(*bench_, {.origin = origin, .kind = "hook", .text = text}, {});
  }
  Status Pay() { return PayOwed(*bench_, {}); }

  /// What is owed where the leaf is: tasks and texts.
  std::vector<std::string> Due() { return DueIn(bench_->outbox); }
  std::vector<std::string> DueIn(Outbox& outbox) {
    EXPECT_TRUE(outbox.Update(*log_));
    std::vector<std::string> due;
    for (const log::Ordinal at : outbox.due()) {
      const auto event = log_->EventAt(at);
      if (const auto* task = std::get_if<protocol::Task>(&event->payload))
        due.push_back(task->task_id);
      if (const auto* owed = std::get_if<protocol::Owed>(&event->payload))
        due.push_back(owed->text);
    }
    return due;
  }
  /// What the items on the path to the leaf pay, in order.
  std::vector<std::string> PaidHere() {
    std::vector<std::string> keys;
    for (const log::Ordinal at : log::PathTo(log_->index(), log_->index().leaf())) {
      const auto event = log_->EventAt(at);
      const auto add = [&](const protocol::OptionalCarries& carries) {
        if (!carries) return;
        for (const protocol::Carried& one : *carries) keys.push_back(one.Key());
      };
      if (const auto* item = std::get_if<protocol::HarnessItem>(&event->payload))
        add(item->carries);
      if (const auto* message = std::get_if<protocol::CustomMessage>(&event->payload))
        add(message->carries);
    }
    return keys;
  }
  std::string Leaf() { return log_->leaf_id().value_or(""); }
  void RewindTo(const std::string& id) { ASSERT_TRUE(log_->Rewind(id, log_->leaf_id())); }
  void BranchTo(const std::string& id) { ASSERT_TRUE(log_->Branch(id, log_->leaf_id())); }
};

}  // namespace stet::agent
