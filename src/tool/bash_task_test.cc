#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/guard/guard_fixture.h"
#include "json/view.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

constexpr std::string_view kBackground =
    "It runs in the background as task shell-1. BashTask "
    "reads what it writes.\n";

class BashTaskTest : public ToolTest {
 protected:
  std::string Background(const std::string& command) {
    const Raw args{R"({"background":true,)" + Strings({{"command", command}}).text.substr(1)};
    return TextOfRun("Bash", args);
  }
  /// Waits for the end.
  Outcome Read(const std::string& task_id = "shell-1") {
    return Run("BashTask", R"({"action":"read","wait_time":60,"task_id":")" + task_id + "\"}");
  }
  Outcome Act(const std::string& action) {
    return Run("BashTask", Strings({{"action", action}, {"task_id", "shell-1"}}));
  }
  Outcome Write(const std::string& text) {
    return Run("BashTask", Strings({{"action", "write"}, {"task_id", "shell-1"}, {"stdin", text}}));
  }
  void MakeFifo(const std::string& name = "fifo") {
    ASSERT_EQ(::mkfifo(Path(name).c_str(), 0600), 0);
  }
  void LetGo(const std::string& name = "fifo") {
    const Fd fifo(::open(Path(name).c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(WriteAll(fifo.get(), "go\n"));
  }
};

TEST_F(BashTaskTest, ACommandGoesOnInTheBackgroundWhenTheWaitIsOver) {
  MakeFifo();
  const Outcome moved = Run(
      "Bash",
      R"({"command":"cd /; echo a; cd - >/dev/null; read x <fifo; echo b; exit 3","wait_time":1})");
  EXPECT_FALSE(moved.is_error);
  EXPECT_EQ(TextOf(moved), "a\n" + std::string(kBackground));
  EXPECT_EQ(JsonView(moved.details->text)["taskId"].String(), "shell-1");
  ASSERT_EQ(tasks_.size(), 1U);
  EXPECT_EQ(tasks_[0].task_id, "shell-1");
  EXPECT_EQ(tasks_[0].kind, "shell");
  EXPECT_EQ(tasks_[0].phase, "start");
  EXPECT_EQ(tasks_[0].tool_call_id, "call_1");
  EXPECT_EQ(tasks_[0].by, "model");
  EXPECT_TRUE(tasks_[0].name->starts_with("cd /; echo a;")) << *tasks_[0].name;
  EXPECT_GT(tasks_[0].pid, 0);
  EXPECT_EQ(TextOf(Act("read")), kBackground);
  EXPECT_TRUE(ends_.empty());

  LetGo();
  const Outcome read = Read();
  EXPECT_TRUE(read.is_error);
  EXPECT_EQ(TextOf(read), "b\nTask shell-1 has ended.\nExit code 3\n");
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].task_id, "shell-1");
  EXPECT_EQ(ends_[0].tool_call_id, "call_1");
  EXPECT_EQ(ends_[0].end.status, "failed");
  EXPECT_EQ(ends_[0].end.exit, 3);
  EXPECT_EQ(ends_[0].tail, "a\nb\n");
  EXPECT_EQ(TextOf(Act("read")), "Task shell-1 has ended.\nExit code 3\n")
      << "it may be read again";
}

TEST_F(BashTaskTest, ATaskInTheBackgroundIsFedUntilItsInputIsClosed) {
  EXPECT_EQ(Background("cat; echo end"), kBackground);
  EXPECT_FALSE(Write("one\n").is_error);
  EXPECT_FALSE(Write("two\n").is_error);
  EXPECT_FALSE(Act("write").is_error);
  Read();
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].tail, "one\ntwo\nend\n");
  const Outcome late = Write("three\n");
  EXPECT_TRUE(late.is_error);
  EXPECT_EQ(TextOf(late), "It has ended.");
}

TEST_F(BashTaskTest, WhatIsNotReadIsNotWrittenForEver) {
  Background("exec sleep 1000");
  const std::string large(600'000, 'x');
  EXPECT_FALSE(Write(large).is_error);
  EXPECT_TRUE(Write(large).is_error);
}

TEST_F(BashTaskTest, StopEndsEverything) {
  Background("echo start; (setsid sleep 1000 &); sleep 1000");
  const Outcome stopped = Act("stop");
  EXPECT_TRUE(stopped.is_error);
  EXPECT_NE(TextOf(stopped).find("Task shell-1 has ended.\nIt was stopped.\n"), std::string::npos);
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].end.status, "killed");
  EXPECT_EQ(ends_[0].end.by, "model");
  EXPECT_EQ(background_.running(), 0U);
}

TEST_F(BashTaskTest, ATimeoutHoldsInTheBackgroundToo) {
  EXPECT_FALSE(Run("Bash", R"({"command":"sleep 1000","timeout":1,"background":true})").is_error);
  EXPECT_EQ(TextOf(Read()), "Task shell-1 has ended.\nStopped after 1 s, which was its timeout.\n");
}

TEST_F(BashTaskTest, NothingStartsThatIsNotOnRecord) {
  record_fails_ = true;
  const Outcome refused = Run("Bash", R"({"command":"touch made","background":true})");
  EXPECT_TRUE(refused.is_error);
  EXPECT_FALSE(Exists(Path("made")));
  const Outcome stopped = Run("Bash", R"({"command":"sleep 1000","wait_time":0})");
  EXPECT_TRUE(stopped.is_error);
  EXPECT_EQ(TextOf(stopped), "Stopped: no room left\n");
  EXPECT_EQ(background_.running(), 0U);
}

TEST_F(BashTaskTest, LongOutputIsShownInPartSinceTheLastRead) {
  MakeFifo();
  Run("Bash", R"({"command":"echo first; read x <fifo; seq 1 20000","wait_time":1})");
  LetGo();
  const std::string text = TextOf(Read());
  EXPECT_TRUE(text.starts_with("1\n2\n")) << text.substr(0, 100);
  EXPECT_LT(text.size(), 16'400U);
  ASSERT_EQ(blobs_.size(), 1U);
  EXPECT_TRUE(blobs_.begin()->second.starts_with("1\n2\n"));
  EXPECT_TRUE(blobs_.begin()->second.ends_with("19999\n20000\n"));
}

TEST_F(BashTaskTest, WhatATaskDidToFilesIsToldWithItsEnd) {
  MakeFifo();
  const Outcome moved =
      Run("Bash", R"({"command":"echo 1 >early; read x <fifo; echo 2 >late","wait_time":1})");
  ASSERT_EQ(moved.writes.size(), 1U);
  EXPECT_EQ(moved.writes[0].path, Path("early"));
  LetGo();
  const Outcome read = Read();
  ASSERT_EQ(read.writes.size(), 1U);
  EXPECT_EQ(read.writes[0].path, Path("late"));
  EXPECT_TRUE(Act("read").writes.empty());
}

TEST_F(BashTaskTest, NoMoreThanTheCapMayRun) {
  for (std::size_t i = 0; i < Tasks::kMaxRunning; ++i) Background("exec sleep 1000");
  const Outcome refused = Run("Bash", R"({"command":"true","background":true})");
  EXPECT_TRUE(refused.is_error);
  EXPECT_NE(TextOf(refused).find("32 tasks run"), std::string::npos);
  background_.StopAll();
  EXPECT_EQ(ends_.size(), Tasks::kMaxRunning);
  EXPECT_EQ(background_.running(), 0U);
}

TEST_F(BashTaskTest, AnUnknownTaskIsNamedWithThoseThatThereAre) {
  EXPECT_EQ(TextOf(Act("read")), "There is no task shell-1: nothing was left in the background.");
  Background("true");
  EXPECT_EQ(TextOf(Read("shell-7")), "There is no task shell-7. The tasks are: shell-1.");
}

TEST_F(BashTaskTest, OfATaskOfAnEarlierProcessItIsSaidHowItEnded) {
  shells_.KnowPast([](const std::string& task_id) -> std::optional<std::string> {
    if (task_id != "shell-1") return std::nullopt;
    return "The background command shell-1 was lost when stet was stopped.";
  });
  const Outcome read = Act("read");
  EXPECT_FALSE(read.is_error);
  EXPECT_EQ(TextOf(read), "The background command shell-1 was lost when stet was stopped.");
  EXPECT_TRUE(Act("stop").is_error) << "there is nothing to stop";
  EXPECT_TRUE(Read("shell-7").is_error);
}

TEST_F(BashTaskTest, WhatATaskWritesIsOnlyForTheUsersEyes) {
  Background("echo secret; exec sleep 1000");
  struct stat found{};
  ASSERT_EQ(::stat(temp_.Sub("tasks/shell-1").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
  ASSERT_EQ(::stat(temp_.Sub("tasks").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700U);
}

TEST_F(BashTaskTest, OnlyWritingHasEffects) {
  for (const char* action : {"read", "write", "stop"}) {
    const auto intent =
        registry_.Find("BashTask")
            ->Intend(Strings({{"action", action}, {"task_id", "shell-1"}}), workspace_);
    EXPECT_EQ(intent->effects, std::string_view(action) == "write");
  }
}

TEST_F(BashTaskTest, OutputIsInAFileOfTheTasksNameWhileItRuns) {
  MakeFifo("first");
  MakeFifo("second");
  Background("echo one; read x <first; echo two");
  Run("Bash", R"({"command":"echo moved; read x <second; echo on","wait_time":1})");
  EXPECT_EQ(ReadFile(temp_.Sub("tasks/shell-1")).value_or(""), "one\n");
  EXPECT_EQ(ReadFile(temp_.Sub("tasks/shell-2")).value_or(""), "moved\n");
  LetGo("first");
  LetGo("second");
  Read("shell-1");
  Read("shell-2");
  EXPECT_EQ(background_.Find("shell-1").value()->Output(), "one\ntwo\n");
  EXPECT_EQ(background_.Find("shell-2").value()->Output(), "moved\non\n");
  EXPECT_EQ(ReadFile(temp_.Sub("tasks/shell-2")).value_or(""), "moved\non\n");
}

TEST_F(BashTaskTest, ATaskThatCannotStartHasAnEndOnRecord) {
  ASSERT_TRUE(MakeDirs(temp_.Sub("tasks/shell-1")));  // In the way of its output.
  const Outcome refused = Run("Bash", R"({"command":"true","background":true})");
  EXPECT_TRUE(refused.is_error);
  ASSERT_EQ(tasks_.size(), 2U) << TextOf(refused);
  EXPECT_EQ(tasks_[1].phase, "end");
  EXPECT_EQ(tasks_[1].status, "failed");
  EXPECT_EQ(background_.running(), 0U);
}

TEST(ShellsTest, NothingOutlivesThemAndNobodyIsToldOfIt) {
  const TempDir temp;
  const std::string mark = "STET_TEST_MARK=" + temp.path();
  Loop loop;
  int told = 0;
  {
    Tasks tasks([&](const auto&) { ++told; }, 5);
    Shells shells(tasks);
    const std::string id = shells.NewTaskId().value();
    EXPECT_EQ(id, "shell-5");
    std::unique_ptr<Shell> shell =
        Shell::Start(loop,
                     {.command = "export " + mark + "; (trap '' TERM; setsid sleep 1000) & wait",
                      .cwd = temp.path()})
            .value();
    shells.Keep(std::make_shared<ShellTask>(
        TaskFacts{.id = id, .kind = "shell", .name = "sleep", .tool_call_id = ""}, std::move(shell),
        "", ShellStart()));
    EXPECT_EQ(tasks.running(), 1U);
  }
  EXPECT_EQ(ProcessesWith(mark), std::vector<pid_t>());
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace stet::tool
