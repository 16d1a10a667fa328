#include "tool/tasks.h"

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

/// Runs until a test ends it.
class FakeTask final : public BackgroundTask {
 public:
  FakeTask(std::string id, std::string name)
      : facts_{.id = std::move(id), .kind = "fake", .name = std::move(name), .tool_call_id = ""} {}

  [[nodiscard]] const TaskFacts& facts() const override { return facts_; }
  [[nodiscard]] std::optional<TaskEnd> end() const override { return end_; }
  void OnEnd(std::function<void()> listener) override { listener_ = std::move(listener); }
  void Stop(std::string_view by) override {
    End({.status = "killed", .exit = {}, .signal = {}, .by = std::string(by)});
  }
  void Kill() override {}
  void KillAndWait() override { End({.status = "killed", .exit = {}, .signal = 9, .by = ""}); }
  [[nodiscard]] std::string Output() const override { return "all"; }
  [[nodiscard]] std::string Tail(std::size_t) const override { return "end"; }
  [[nodiscard]] std::string output_path() const override { return ""; }

  void End(TaskEnd end) {
    if (end_) return;
    end_ = std::move(end);
    if (listener_) listener_();
  }

 private:
  TaskFacts facts_;
  std::optional<TaskEnd> end_;
  std::function<void()> listener_;
};

std::shared_ptr<FakeTask> Start(Tasks& tasks, const std::string& name = "") {
  auto task = std::make_shared<FakeTask>(tasks.NewId("fake").value(), name);
  tasks.Keep(task);
  return task;
}

TEST(TasksTest, AnEndIsToldOnceWithItsTask) {
  std::vector<std::string> told;
  Tasks tasks([&](const auto& task) { told.push_back(task->facts().id + task->end()->by); });
  const auto one = Start(tasks);
  const auto two = Start(tasks);
  EXPECT_EQ(tasks.running(), 2U);
  two->Stop("person");
  EXPECT_EQ(tasks.running(), 1U);
  EXPECT_EQ(told, std::vector<std::string>{"fake-2person"});
  tasks.StopAll();
  EXPECT_EQ(told, (std::vector<std::string>{"fake-2person", "fake-1"}));
  EXPECT_EQ(tasks.running(), 0U);
}

TEST(TasksTest, WhatRunsIsDescribedByIdAndName) {
  Tasks tasks;
  EXPECT_EQ(tasks.Describe(), "");
  Start(tasks, "npm run dev");
  Start(tasks)->Stop("model");
  Start(tasks);
  EXPECT_EQ(tasks.Describe(), "Still runs in the background: fake-1 (npm run dev), fake-3");
}

TEST(TasksTest, OfTheEndedOnesTheLastAreKept) {
  Tasks tasks;
  const auto runs = Start(tasks);
  for (std::size_t i = 0; i < Tasks::kMaxEnded + 10; ++i) Start(tasks)->Stop("model");
  EXPECT_TRUE(tasks.Find("fake-1")) << "it runs";
  EXPECT_FALSE(tasks.Find("fake-2"));
  EXPECT_TRUE(tasks.Find("fake-43"));
}

TEST(TasksTest, NoMoreThanTheCapMayRun) {
  Tasks tasks;
  for (std::size_t i = 0; i < Tasks::kMaxRunning; ++i) Start(tasks);
  const auto refused = tasks.NewId("fake");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBusy);
}

TEST(TasksTest, AnUnknownTaskIsNamedWithThoseThatThereAre) {
  Tasks tasks;
  EXPECT_EQ(tasks.Find("fake-1").error().message,
            "There is no task fake-1: nothing was left in the background.");
  Start(tasks);
  EXPECT_EQ(tasks.Find("x").error().message, "There is no task x. The tasks are: fake-1.");
}

TEST(TasksTest, ANameIsOneShortLine) {
  EXPECT_EQ(TaskName("make\ntest"), "make test");
  EXPECT_EQ(TaskName(std::string(1000, 'x')).size(), Tasks::kMaxNameBytes);
}

}  // namespace
}  // namespace stet::tool
