// Tasks of a session that clients take part in: what the model is told of them, once on every path,
// and what clients see and have stopped.
#include "client/await.h"
#include "tests/model/gate_fixture.h"
#include "tests/model/left_log_fixture.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

std::size_t TimesIn(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

constexpr std::string_view kTaskNotice = "The background command shell-1 ";

class TasksLiveTest : public LiveTest {
 protected:
  void AwaitEnd(const std::string& task_id) {
    EXPECT_TRUE(heard_->Await<protocol::Task>(
        [&](const protocol::Task& task) { return task.task_id == task_id && task.ends(); }));
  }
  protocol::TaskRow Row(std::size_t number = 0) {
    const auto rows = client::Await(*session_, &client::LiveSession::Tasks);
    EXPECT_TRUE(rows) << rows.error().Text();
    if (!rows || rows->size() <= number) {
      ADD_FAILURE() << "there is no such row";
      return {};
    }
    return (*rows)[number];
  }
  /// The events of the log by type, from the first task's end on.
  std::vector<std::string> TypesFromEnd() {
    std::vector<std::string> types;
    for (const protocol::Event& event : heard_->Events()) {
      const auto* task = std::get_if<protocol::Task>(&event.payload);
      if (!types.empty() || (task != nullptr && task->ends()))
        types.emplace_back(protocol::TypeName(event.payload));
    }
    return types;
  }
};

TEST_F(TasksLiveTest, AnEndDuringACallIsOnRecordAtOnceAndToldAtTheNextStep) {
  const Gate task(project_, "task");
  const Gate call(project_, "call");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat task; echo built","background":true}}}]},
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat call"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  const auto turn = Send("go");
  ASSERT_TRUE(heard_->AwaitTransient<protocol::ToolExecutionStart>(
      [n = 0](const auto&) mutable { return ++n == 2; }));
  task.Open();
  AwaitEnd("shell-1");
  EXPECT_TRUE(heard_->All<protocol::HarnessItem>().empty()) << "a call is open";
  call.Open();
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "completed");
  EXPECT_EQ(TimesIn(Requests()[1], kTaskNotice), 0U);
  EXPECT_EQ(TimesIn(Requests()[2], kTaskNotice), 1U);
  EXPECT_NE(Requests()[2].find("built"), std::string::npos);
  const auto items = heard_->All<protocol::HarnessItem>();
  ASSERT_EQ(items.size(), 1U);
  ASSERT_TRUE(items[0].carries);
  EXPECT_EQ((*items[0].carries)[0].task_id, "shell-1");
  Run("again");
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 1U) << "it stays said, once";
}

TEST_F(TasksLiveTest, AtRestTheEndAndItsItemComeTogetherAndBeginATurn) {
  const Gate task(project_, "task");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat task; echo built","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  task.Open();
  ASSERT_TRUE(heard_->AwaitTransient<protocol::RuntimeEnd>(
      [n = 0](const auto&) mutable { return ++n == 2; }));
  const std::vector<std::string> types = TypesFromEnd();
  ASSERT_GE(types.size(), 3U);
  EXPECT_EQ(types[1], "harness_item");
  EXPECT_EQ(types[2], "turn");
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 1U);
}

TEST_F(TasksLiveTest, AfterARewindToBehindTheCallTheModelIsToldAgain) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo built","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  AwaitEnd("shell-1");
  Run("what now");
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 1U);
  // To the result of the call.
  std::string result;
  for (const protocol::Event& event : heard_->Events()) {
    if (std::holds_alternative<protocol::ToolResult>(event.payload)) result = event.id;
  }
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Rewind, result));
  Run("once more");
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 1U) << Requests().back();
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Rewind, std::nullopt));
  Run("from the beginning");
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 0U) << "this path never started it";
}

TEST_F(TasksLiveTest, AnEndWhereItsCallIsNotOnThePathBeginsNoTurn) {
  const Gate task(project_, "task");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat task","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  const std::string leaf = State().leaf_id.value_or("");
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Rewind, std::nullopt));
  task.Open();
  AwaitEnd("shell-1");
  EXPECT_EQ(State().state, "idle");
  EXPECT_TRUE(heard_->All<protocol::HarnessItem>().empty());
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Branch, leaf));
  Run("back");
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 1U);
}

TEST_F(TasksLiveTest, APersonHasATaskStopped) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  const Gate ready(project_, "ready");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo one; cat ready; sleep 1000","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  ready.Open();
  protocol::TaskRow row = Row();
  EXPECT_EQ(row.task_id, "shell-1");
  EXPECT_EQ(row.kind, "shell");
  EXPECT_EQ(row.state, "running");
  EXPECT_EQ(row.name, "echo one; cat ready; sleep 1000");
  EXPECT_EQ(row.by, "model");
  EXPECT_GT(row.started_at, 0);
  EXPECT_FALSE(row.held_by);
  auto output = client::Await(*session_, &client::LiveSession::TaskOutput, "shell-1");
  ASSERT_TRUE(output) << output.error().Text();
  EXPECT_EQ(output->text, "one\n");
  EXPECT_TRUE(output->running);
  const std::string file = store::SessionStore(roots_).Find(session_id_).value() + "/tasks/shell-1";
  EXPECT_EQ(ReadFile(file).value_or(""), "one\n");

  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::StopTask, "shell-1"));
  AwaitEnd("shell-1");
  row = Row();
  EXPECT_EQ(row.state, "killed");
  EXPECT_GE(row.ended_at.value_or(0), row.started_at);
  output = client::Await(*session_, &client::LiveSession::TaskOutput, "shell-1");
  ASSERT_TRUE(output) << output.error().Text();
  EXPECT_EQ(output->text, "one\n");
  EXPECT_FALSE(output->running);
  EXPECT_FALSE(Exists(file)) << "it is in a blob";
  const auto again = client::Await(*session_, &client::LiveSession::StopTask, "shell-1");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kConflict);
  EXPECT_EQ(client::Await(*session_, &client::LiveSession::StopTask, "shell-9").error().code,
            Code::kNotFound);
  Run("what happened");
  EXPECT_NE(Requests().back().find("shell-1 was stopped by the user"), std::string::npos);
}

TEST_F(TasksLiveTest, BashTaskSaysHowATaskOfAnEarlierProcessEnded) {
  const Gate task(project_, "task");
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat task; echo built; exit 3","background":true}}}]},
    {"blocks":[{"text":"Done."}]},
    {"blocks":[{"call":{"name":"BashTask","args":{"task_id":"shell-1","action":"read"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  if (host_) GTEST_SKIP() << "a host keeps the session: its tasks are those of the same process";
  Run("go");
  task.Open();  // Not before: the turn would go on for its end.
  AwaitEnd("shell-1");
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  protocol::Attach attach = Here();
  attach.session_id = session_id_;
  attach.append_system_prompt = "Go on.";  // Takes a lane that is opened anew.
  Open(attach);
  Run("look again");
  const auto results = heard_->All<protocol::ToolResult>();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_FALSE(results[1].is_error);
  EXPECT_NE(results[1].content.text.find("shell-1 has ended (exit code 3)"), std::string::npos)
      << results[1].content.text;
  EXPECT_NE(results[1].content.text.find("built"), std::string::npos);
}

TEST_F(TasksLiveTest, ACopyIsToldThatWhatRunsIsNotItsOwn) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"sleep 1000","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  protocol::Attach attach = Here();
  attach.session_id = session_id_;
  attach.fork = true;
  Open(attach);
  Run("what runs?");
  EXPECT_EQ(TimesIn(Requests().back(), "are not its own: shell-1 (sleep 1000)"), 1U)
      << Requests().back();
  Run("and now?");
  EXPECT_EQ(TimesIn(Requests().back(), "are not its own: shell-1 (sleep 1000)"), 1U);
}

TEST_F(TasksLiveTest, WhatDiedWithItsProcessIsLostAndToldOnce) {
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"ok"}]}]})");
  std::string folder;
  {
    LeftLog left(roots_, "ses_dead", project_);
    folder = left.folder();
    protocol::AssistantMessage called;
    called.message.blocks.emplace_back(protocol::ToolCallBlock{
        .tool_call_id = "call_1", .tool_name = "Bash", .args = Raw{R"({"command":"serve"})"}});
    left.Append(called);
    protocol::Task start;
    start.task_id = "shell-1";
    start.kind = "shell";
    start.phase = "start";
    start.tool_call_id = "call_1";
    left.Append(start);
    // And here it was killed: the call has no result.
  }
  ASSERT_TRUE(MakeDirs(folder + "/tasks"));
  ASSERT_TRUE(ReplaceFile(folder + "/tasks/shell-1", "listening\n", Durable::kNo));
  protocol::Attach attach = Here();
  attach.session_id = "ses_dead";
  Open(attach);
  const protocol::TaskRow row = Row();
  EXPECT_EQ(row.state, "lost");
  EXPECT_EQ(client::Await(*session_, &client::LiveSession::TaskOutput, "shell-1")->text,
            "listening\n");
  Run("and now");
  EXPECT_EQ(TimesIn(Requests()[0], "shell-1 was lost when stet was stopped"), 1U) << Requests()[0];
  EXPECT_NE(Requests()[0].find("listening"), std::string::npos);
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  Open(attach);
  Run("again");
  EXPECT_EQ(TimesIn(Requests()[1], kTaskNotice), 1U);
}

TEST_F(TasksLiveTest, WhatRunsIsToldAgainBehindACompaction) {
  const std::string text(4000, 'x');
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"sleep 1000","background":true}}}]},
    {"times":0,"blocks":[{"text":")" +
         text + R"("}]}]})");
  Open(Here());
  Run("one");
  Run("two");
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  EXPECT_TRUE(heard_->Await<protocol::HarnessItem>([](const protocol::HarnessItem& item) {
    return item.item.content == "Still runs in the background: shell-1 (sleep 1000)";
  }));
}

TEST_F(TasksLiveTest, AnEndDuringACompactionWaitsForItAndThenBeginsATurn) {
  const Gate task(project_, "task");
  const std::string text(4000, 'x');
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat task","background":true}}}]},
    {"blocks":[{"text":")" +
         text + R"("}]},{"blocks":[{"text":")" + text + R"("}]},
    {"firstByteMs":1000,"blocks":[{"text":"The summary."}]},
    {"times":0,"blocks":[{"text":"I saw it end."}]}]})");
  Open(Here());
  Run("one");
  Run("two");
  const auto compaction = Send("", "compact");
  ASSERT_TRUE(heard_->Await<protocol::ModelCall>([](const protocol::ModelCall& call) {
    return call.phase == "start" && call.purpose != "turn";
  }));
  task.Open();
  AwaitEnd("shell-1");
  EndOf(*compaction.turn_id);
  ASSERT_TRUE(heard_->AwaitTransient<protocol::RuntimeEnd>(
      [n = 0](const auto&) mutable { return ++n == 4; }));
  const std::vector<std::string> types = TypesFromEnd();
  const auto compact = std::ranges::find(types, "compact");
  ASSERT_NE(compact, types.end());
  EXPECT_EQ(std::find(types.begin(), compact, "harness_item"), compact);
  EXPECT_EQ(TimesIn(Requests().back(), kTaskNotice), 1U) << Requests().back();
}

/// In this process alone: a client of a host is not there yet when the session begins.
class OwedLiveTest : public TasksLiveTest {};

TEST_F(OwedLiveTest, WhatAHookAddsIsOwedBeforeItIsToldAndOutlivesTheProcess) {
  more_settings_ = "[[hooks.SessionStart]]\ncommand='''echo the word is xyzzy'''\n";
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"ok"}]}]})");
  Open(Here());
  ASSERT_TRUE(heard_->Await<protocol::Owed>());
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  more_settings_.clear();
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"ok"}]}]})");
  protocol::Attach attach = Here();
  attach.session_id = session_id_;
  Open(attach);
  Run("say it");
  EXPECT_EQ(TimesIn(Requests()[0], "the word is xyzzy"), 1U) << Requests()[0];
  Run("again");
  EXPECT_EQ(TimesIn(Requests()[1], "the word is xyzzy"), 1U);
}

}  // namespace
}  // namespace stet::test
